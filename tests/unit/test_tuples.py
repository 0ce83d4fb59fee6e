"""Our named tuples are the standard ones."""

from __future__ import annotations

import copy
import pickle
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy import tuples
from policy.syntax.tokens import Token

VALUES = st.tuples(st.text(), st.text(), st.integers(), st.integers())


class Standard(NamedTuple):
    """What the standard maker makes of the same fields."""

    kind: str
    text: str
    start: int
    end: int


@given(VALUES, VALUES)
def test_a_named_tuple_is_what_the_standard_one_is(
    one: tuple[str, str, int, int], other: tuple[str, str, int, int]
) -> None:
    ours, standard = Token(*one), Standard(*one)
    assert repr(ours) == repr(standard).replace("Standard", "Token")
    assert tuple(ours) == tuple(standard) == one
    assert hash(ours) == hash(standard)
    assert (ours < Token(*other)) is (standard < Standard(*other))
    assert ours._asdict() == standard._asdict()
    assert tuple(ours._replace(start=7)) == tuple(standard._replace(start=7))
    assert pickle.loads(pickle.dumps(ours)) == copy.copy(ours) == ours
    assert Token(**ours._asdict()) == ours


def test_its_class_says_what_its_body_does() -> None:
    assert Token.__mro__ == (Token, tuple, object)
    assert Token._fields == Token.__match_args__ == Standard._fields
    assert (Token.__module__, Token.__qualname__) == ("policy.syntax.tokens", "Token")
    assert Token.__doc__ is not None
    assert Token.__doc__.startswith("A word or mark")
    assert set(Token.__annotations__) == set(Token._fields)
    with pytest.raises(AttributeError):
        Token("NAME", "a", 0, 1).kind = "TEXT"  # type: ignore[misc]
    with pytest.raises(TypeError):
        Token("NAME", "a", 0)  # type: ignore[call-arg]


class Optional(NamedTuple):
    """What the standard maker makes of fields of which one may be left out."""

    kind: str
    size: int = 1


def test_a_field_may_be_left_out() -> None:
    class Ours(tuples.NamedTuple):
        """A field that may be left out."""

        kind: str
        size: int = 1

    # The type checker is told of the standard maker wherever ours is used.
    made: Any = Ours
    assert made("a") == Optional("a") == ("a", 1)
    assert made("a", size=2) == Optional("a", size=2)
    assert made._field_defaults == Optional._field_defaults
    with pytest.raises(TypeError):
        made()


def test_a_method_or_a_default_that_comes_too_early_is_refused() -> None:
    with pytest.raises(AssertionError, match="nothing else"):

        class Odd(tuples.NamedTuple):
            """A method."""

            size: int

            def double(self) -> int:
                return self.size * 2

    with pytest.raises(AssertionError, match="too early"):

        class Early(tuples.NamedTuple):
            """A field that must be given after one that may be left out."""

            kind: str = "a"
            size: int

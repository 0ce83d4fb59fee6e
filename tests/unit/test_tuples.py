"""Our named tuples are the standard ones."""

from __future__ import annotations

import copy
import pickle
from typing import NamedTuple

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


def test_a_default_or_a_method_is_refused() -> None:
    with pytest.raises(AssertionError, match="without defaults"):

        class Odd(tuples.NamedTuple):
            """A field that may be left out."""

            size: int = 1

"""A JSON value passed as an object is limited in the same way as its text."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy.model import freeze
from policy.values import JsonLimits, Unreadable, copy_value, read_json, read_plain_json

_SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**65), 2**65),
    st.floats(),
    st.text("aé\ud800", max_size=4),
    st.decimals(),
    st.just(object()),
)
_VALUES = st.recursive(
    _SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text("abé\ud800", max_size=2), inner, max_size=3)
        | st.dictionaries(st.integers(0, 1), inner, max_size=1)
        | st.lists(inner, max_size=2).map(tuple)
    ),
    max_leaves=8,
)
_LIMITS = st.builds(
    JsonLimits, depth=st.integers(0, 4), digits=st.sampled_from([1, 19, 20, 400]),
    bytes=st.integers(0, 20) | st.just(1_000),
)  # fmt: skip


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**65), 2**65) | st.floats() | st.text("aé\ud800"),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("abé\ud800", max_size=2), inner)
    ),
    max_leaves=8,
)


@given(_JSON, st.integers(0, 4))
def test_a_value_is_copied_as_its_text_is_read(value: Any, depth: int) -> None:
    limits = JsonLimits(depth=depth)
    copied = copy_value(value, limits=limits)
    read = read_plain_json(json.dumps(value), limits=limits)
    if isinstance(read, Unreadable):
        assert isinstance(copied, Unreadable)
    else:
        assert repr(copied) == repr(read)


@given(_VALUES)
def test_a_copy_can_be_changed_without_the_value(value: Any) -> None:
    before = repr(value)
    copied = copy_value(value)
    if isinstance(copied, dict):
        copied["a"] = copied
    if isinstance(copied, list):
        copied.append(copied)
    assert repr(value) == before


class _Text(str):
    """Text that says otherwise of itself."""

    __slots__ = ()

    def __str__(self) -> str:
        return "another"

    def isascii(self) -> bool:
        return True

    def encode(self, *how: str) -> bytes:
        return b""


class _Whole(int):
    """A number that says otherwise of itself."""

    def __int__(self) -> int:
        return 7

    def bit_length(self) -> int:
        return 1


class _Broken(float):
    """A number that says otherwise of itself."""

    def __float__(self) -> float:
        return 7.0


def _disguised(value: Any) -> Any:
    """Return an equal value of the same kinds, of classes that are not the kinds themselves."""
    match value:
        case bool() | None | Decimal():
            return value
        case str():
            return _Text(value)
        case int():
            return _Whole(value)
        case float():
            return _Broken(value)
        case list() | tuple():
            return [_disguised(item) for item in value]
        case dict():
            return {
                _Text(key) if isinstance(key, str) else key: _disguised(item)
                for key, item in value.items()
            }
        case _:
            return value


@given(_VALUES, _LIMITS)
def test_a_subclass_cannot_misreport_its_value(value: Any, limits: JsonLimits) -> None:
    assert repr(copy_value(_disguised(value), limits=limits)) == repr(
        copy_value(value, limits=limits)
    )


@given(st.from_regex(r"-?(0|[1-9][0-9]{0,17})\.[0-9]{1,18}([eE][+-]?[0-9]{1,2})?", fullmatch=True))
def test_a_number_has_the_value_of_its_digits(digits: str) -> None:
    read = read_json(digits)
    assert isinstance(read, float | Decimal)
    spelled = Decimal(digits)
    assert (Decimal(repr(read)) if isinstance(read, float) else read) == spelled
    assert isinstance(read, float) == (Decimal(repr(float(digits))) == spelled)


@pytest.mark.parametrize(
    "text", ['{"a": [1, {"b": null}]}', '"x"', "[[[]]]", '{"a": "\\ud800"}', "{", '{"a":1,"a":2}']
)
def test_plain_json_once_frozen_is_json_that_was_read_frozen(text: str) -> None:
    limits = JsonLimits(depth=3)
    plain = read_plain_json(text, limits=limits)
    frozen = read_json(text, limits=limits)
    assert frozen == (plain if isinstance(plain, Unreadable) else freeze(plain))

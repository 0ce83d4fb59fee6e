"""Hostile JSON is parsed as the reference parser does, or is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from policy.admission import Admitted, RawCall, admit
from policy.catalog import Catalog, Origin, ToolSpec
from policy.cli.calls import NotACall, read_call
from policy.model import Resolvers, freeze, thaw
from policy.values import JsonLimits, Unreadable, read_json, read_plain_json
from tests.examples import examples
from tests.reference_json import REFUSED, read_slowly

_SPEC = ToolSpec(
    name="t",
    origin=Origin(kind="host", tool="t"),
    schema={"type": "object", "additionalProperties": True},
)
_TOOLS = Catalog(specs=(_SPEC,))

# What two readers take differently, or only one of them takes at all.
_HOSTILE = (
    *('{"a": 1, "a": 2}', '{"a": 1, "\\u0061": 2}', '{"a": {"b": 1, "b": 1}}', '{"": 0, "": 0}'),
    *('"\\ud800"', '"\\udc00\\ud800"', '"\\ud83d\\ude00"', '"\\uD83D\\uDE00"', '{"\\ud800": 1}'),
    *('"\\ud83d\\u0041"', '"\\ud83dx\\ude00"', '"\ud800"', '"\\\\ud800"', '"\\\\\\ud800"'),
    *("NaN", "-NaN", "Infinity", "-Infinity", "[NaN]", '{"a": Infinity}', "nan", "inf"),
    *("-0", "-0.0", "0e0", "00", "01", "-01", "+1", ".5", "5.", "1e", "1e+", "1.e5", "0x10"),
    *("1e400", "-1e400", "1e-400", "1e999999999999999999999", "1.7976931348623159e308"),
    *("0.1", "0.10000000000000000000001", "9007199254740993", "9007199254740993.0", "1" * 401),
    *("1_000", "１", "٣", "1\u00a0", "\u00a01", "1\x0b", "\x0c1", "\u20281", "1\x00", "\x00"),
    *('"\x00"', '"\\u0000"', '"\n"', '"\t"', '"\\n"', '"\x7f"', '"\\v"', '"\\x41"', '"\\u12"'),
    *('"\\u 123"', '"\\u+123"', '"\\u12_3"', '"\\uABCG"', '"\\U0041"', '"\\', '"\\u', '"', "'a'"),
    *("{} {}", "{}x", "{},", "[1,]", '{"a": 1,}', "[,1]", '{"a"}', "{1: 2}", "{a: 1}", "[1 2]"),
    *("// c\n1", "/**/1", "1 // c", "True", "None", "truefalse", "nul", "", " ", "[", "]", "}"),
    *("\ufeff{}", " \ufeff{}", "{}\ufeff", "[" * 5 + "]" * 5, "[" * 100_000, '{"a":' * 100_000),
)
_LIMITS = st.builds(
    JsonLimits,
    depth=st.integers(0, 5),
    digits=st.sampled_from([1, 3, 19, 20, 400]),
    bytes=st.sampled_from([0, 4, 12, 1_000, 1_000_000]),
)
_PIECES = st.lists(
    st.sampled_from(
        [
            *("{", "}", "[", "]", ",", ":", '"', "\\", "\\u", "d800", "dc00", "0041", "\\n", "a"),
            *("-", "+", ".", "e", "E", "0", "1", "9", "12345678901234567", "true", "null", "NaN"),
            *(" ", "\n", "\t", "\x00", "\x0b", "\ufeff", "\ud800", "é", "\U0001f600", "\u2028"),
            *('"a":', '"a": 1', '"\\u0061": 1', '["b"]', '"\\ud83d\\ude00"', "1e5", "0.1"),
        ]
    ),
    max_size=10,
).map("".join)
_WRITTEN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3)
    ),
    max_leaves=6,
)


@st.composite
def _spoiled(draw: st.DrawFn) -> str:
    """Return JSON as it is written, with one stretch of it exchanged for something else."""
    text = json.dumps(draw(_WRITTEN), ensure_ascii=draw(st.booleans()))
    first = draw(st.integers(0, len(text)))
    last = draw(st.integers(first, min(len(text), first + 2)))
    return text[:first] + draw(_PIECES) + text[last:]


_TEXTS = st.sampled_from(_HOSTILE) | _PIECES | _spoiled()


def _alike(read: Any, slow: Any) -> bool:
    """Tell whether both are refused, or the same value of the same kinds."""
    if slow is REFUSED or isinstance(read, Unreadable):
        return slow is REFUSED and isinstance(read, Unreadable)
    return repr(read) == repr(slow)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


@settings(max_examples=examples(1_000))
@given(_TEXTS, _LIMITS)
@example('{"a": 1, "\\u0061": 2}', JsonLimits())
def test_text_is_read_as_the_slow_reader_reads_it(text: str, limits: JsonLimits) -> None:
    for given_ in (text, _bytes(text)):
        assert _alike(read_plain_json(given_, limits=limits), read_slowly(given_, limits))


@pytest.mark.parametrize("number", range(len(_HOSTILE)))
def test_hostile_text_is_read_as_the_slow_reader_reads_it(number: int) -> None:
    text, limits = _HOSTILE[number], JsonLimits()
    for given_ in (text, _bytes(text), b" " + _bytes(text), _bytes(text) + b"\r\n"):
        slow = read_slowly(given_, limits)
        assert _alike(read_plain_json(given_, limits=limits), slow)
        frozen = read_json(given_, limits=limits)
        assert isinstance(frozen, Unreadable) if slow is REFUSED else frozen == freeze(slow)


@given(
    st.binary(max_size=12) | st.builds(lambda a, b: _bytes(a) + b, _PIECES, st.binary(max_size=3))
)
def test_bytes_are_read_as_the_slow_reader_reads_them(given_: bytes) -> None:
    limits = JsonLimits()
    assert _alike(read_plain_json(given_, limits=limits), read_slowly(given_, limits))


@settings(max_examples=examples(500))
@given(_TEXTS)
def test_an_input_is_admitted_only_as_the_slow_reader_reads_it(text: str) -> None:
    for given_ in (text, _bytes(text)):
        found = admit(RawCall(tool="t", input=given_), _TOOLS)
        meant = _meant(given_)
        if isinstance(found, Admitted):
            assert repr(thaw(found.call.input)) == repr(meant)
        else:
            assert not isinstance(meant, dict)


def _meant(given_: str | bytes) -> Any:
    """Return the input that a text stands for: JSON, JSON in JSON text, or none at all."""
    slow = read_slowly(given_, JsonLimits())
    if isinstance(slow, str):
        slow = read_slowly(slow, JsonLimits())
    return {} if slow is None or not given_.strip() else slow


@settings(max_examples=examples(500))
@given(_TEXTS)
def test_a_line_asks_about_the_input_that_the_slow_reader_reads(text: str) -> None:
    """What stands in a line can reach no further than its own place in it."""
    line = b'{"tool": "t", "input": ' + _bytes(text) + b', "id": 7}'
    slow = read_slowly(line, JsonLimits())
    found = read_call(line, disk=Resolvers())
    if isinstance(found, NotACall):
        assert slow is REFUSED or not {"tool", "input", "id"}.issuperset(slow)
    else:
        assert (found.tool, found.id) == ("t", slow["id"])
        assert repr(thaw(found.input)) == repr(slow["input"])


@pytest.mark.parametrize("text", _HOSTILE)
def test_a_hostile_line_is_answered(text: str) -> None:
    for line in (_bytes(text), b'{"tool": "t", ' + _bytes(text) + b"}", _bytes(text) * 3):
        assert isinstance(read_call(line, disk=Resolvers()), NotACall) or text == "{}"

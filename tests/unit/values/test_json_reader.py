"""JSON is read strictly: text that two parsers could read differently is refused."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from policy.values import JsonLimits, Unreadable, check_value, read_json


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"a": 1, "a": 2}', "occurs twice"),
        ('{"a": 1, "\\u0061": 2}', "occurs twice"),
        ('[{"x": {"b": 1, "b": 1}}]', "occurs twice"),
        ("NaN", "NaN"),
        ("[Infinity]", "Infinity"),
        ("-Infinity", "Infinity"),
        ("1e400", "too large"),
        ('"\\ud800"', "surrogate"),
        ('{"\\uDC00": 1}', "surrogate"),
        ("[" * 65 + "]" * 65, "deeply"),
        ("[" * 100_000, "deeply"),
        ("1" * 401, "digits"),
        ("1." + "1" * 401, "digits"),
        ("\ufeff{}", "byte order"),
        ("{} {}", "not JSON"),
        ("{} x", "not JSON"),
        ("", "not JSON"),
        ("{'a': 1}", "not JSON"),
        ("[1,]", "not JSON"),
        ("01", "not JSON"),
        ('"a\nb"', "not JSON: invalid control character at character 2"),
        ("1e-99999999999999999999", "exponent"),
        ('"\ud800"', "Unicode"),
        (b"\xff", "UTF-8"),
        (b'"\xed\xa0\x80"', "UTF-8"),
        (b"\xef\xbb\xbf{}", "byte order"),
        (b"\x00{\x00}", "not JSON"),
    ],
)
def test_unclear_json_is_refused(text: str | bytes, reason: str) -> None:
    read = read_json(text)
    assert isinstance(read, Unreadable)
    assert reason in read.reason


def test_good_json_is_frozen() -> None:
    read: Any = read_json('{"a": [1, 2.5, true, null, "\\ud83d\\ude00"]}')
    assert read == {"a": (1, 2.5, True, None, "\U0001f600")}
    with pytest.raises(TypeError):
        read["b"] = 1


def test_digits_that_a_double_cannot_hold_stay_digits() -> None:
    assert read_json("0.1000000000000000000001") == Decimal("0.1000000000000000000001")
    assert isinstance(read_json("0.1"), float)
    assert isinstance(read_json("2.50"), float)
    assert read_json("9007199254740993") == 9007199254740993


def test_limits_are_the_callers() -> None:
    limits = JsonLimits(depth=1, digits=3, bytes=8)
    assert read_json("[1]", limits=limits) == (1,)
    assert isinstance(read_json("[[1]]", limits=limits), Unreadable)
    assert isinstance(read_json("1234", limits=limits), Unreadable)
    assert isinstance(read_json('"éééé"', limits=limits), Unreadable)


def test_a_parsed_value_is_held_to_the_same() -> None:
    cycle: list[Any] = []
    cycle.append(cycle)
    wide: Any = "x"
    for _ in range(60):
        wide = [wide, wide]
    bad = [
        float("nan"),
        {1: 2},
        {"a": {3}},
        b"bytes",
        "\ud800",
        {"\ud800": 1},
        cycle,
        10**500,
        Decimal("sNaN"),
        object(),
    ]
    assert [value for value in bad if check_value(value) is None] == []
    assert check_value(wide, limits=JsonLimits(bytes=10_000)) is not None
    assert check_value({"a": [1, 2.5, True, None, "é", (1,)]}) is None

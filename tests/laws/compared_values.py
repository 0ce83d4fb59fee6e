"""Conditions that compare values with each other, and calls of one tool that they are about."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from policy.catalog import Catalog, Origin, ToolSpec
from policy.checks import checked
from tests.laws.engine import Unsound, build_over
from tests.laws.policies import PolicyText

WHOLE, NUMBER, TEXT = {"type": "integer"}, {"type": "number"}, {"type": "string"}
FIELDS: dict[str, Any] = {
    "a": WHOLE,
    "b": WHOLE,
    "c": {"type": "integer", "minimum": 0, "maximum": 3},
    "n": NUMBER,
    "x": {},
    "s": TEXT,
    "t": {"type": "string", "maxLength": 5},
    "u": {"enum": ["a", "b"]},
    "l": {"type": "array", "items": TEXT},
    "k": {"type": "array", "items": {"type": "integer"}},
    "o": {"type": "object", "properties": {"n": WHOLE, "m": NUMBER}, "required": ["n"]},
    "i": {"type": "array", "items": {"type": "object", "properties": {"n": WHOLE, "s": TEXT}}},
    "at": TEXT,
}
MARK = ToolSpec(
    name="mark",
    origin=Origin(tool="mark"),
    schema={"type": "object", "properties": FIELDS, "additionalProperties": False},
    complete=True,
)
CATALOG = Catalog(specs=(MARK,), complete=True)

_SMALL = st.integers(-2, 4)
_LARGE = st.sampled_from((2**53, -(2**53), 10**17, 2**70))
_ODD = st.sampled_from((0.5, 0.1, 1e-17, 2.0, 1e300, 1.2345678901234567))
_TEXTS = st.sampled_from(("", "a", "b", "ab", "a\u200b", "\u00e9", "e\u0301", "other"))
_MOMENTS = st.sampled_from(("2026-01-01T00:00:00Z", "2026-01-01T00:10:00Z", "2026-01-05", "a"))
_ITEMS = st.fixed_dictionaries({}, optional={"n": _SMALL, "s": _TEXTS})
_VALUES: dict[str, SearchStrategy[Any]] = {
    "a": _SMALL | _LARGE,
    "b": _SMALL | _LARGE,
    "c": st.integers(0, 3),
    "n": _SMALL | _ODD,
    "x": _SMALL | _TEXTS | st.booleans() | st.lists(_SMALL, max_size=2) | _ODD | _ITEMS,
    "s": _TEXTS,
    "t": _TEXTS,
    "u": st.sampled_from(("a", "b")),
    "l": st.lists(_TEXTS, max_size=3),
    "k": st.lists(_SMALL, max_size=3),
    "o": st.fixed_dictionaries({"n": _SMALL}, optional={"m": _SMALL | _ODD}),
    "i": st.lists(_ITEMS, max_size=3),
    "at": _MOMENTS,
}
INPUTS = st.fixed_dictionaries({}, optional=_VALUES)
NOW = st.none() | st.sampled_from(
    [datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=each) for each in (0, 5, 10, 1_000_000)]
)

_QUANTITIES = (
    *("input.a", "input.b", "input.c", "input.n", "input.x", "input.o.n", "input.o.m"),
    *(
        "length(input.s)",
        "length(input.t)",
        "length(input.u)",
        "length(input.l)",
        "length(input.x)",
        'count(y in input.l: y == "a")',
    ),
    *("sum(y in input.i: y.n)", "first_present(input.a, 1)", "0", "1", "2.5"),
)
_OTHERS = ("input.s", "input.t", "input.u", "input.x", "user.id", '"a"', '"\u00e9"')
_LISTS = ("input.l", "input.x", '[input.t, "b"]')
_PATTERNS = ('starts with "a"', 'contains "b"', 'like "*b"', "matches /a?b?/", "is a string")
_CLAUSES = ('y == "a"', 'y != "b"', 'y starts with "a"', "y in input.l", "y == input.s")
_OF_NUMBERS = ("y > 1", "y <= input.a", "y == 2", "y + 1 < input.b", "y in [0, 3]")
_OF_ITEMS = ("y.n > 1", 'y.s == "a"', "y.n is present", 'y.n < 3 and y.s != "b"')
_OF_ELEMENTS = {
    "input.l": _CLAUSES,
    "input.k": _OF_NUMBERS,
    "input.i": _OF_ITEMS,
    "input.x": _CLAUSES + _OF_NUMBERS,
}
_TIMES = ("now", "time(input.at)", "now - 10m", "time(input.at) + 5m")
_OTHER_TIMES = ('time("2026-01-01T00:05:00Z")', "time(input.at)", "now", "context.t")
_DAYS = ("08:00..18:00", "20:00..06:00 on weekdays", "00:00..12:00 on mon", "00:05..00:10")


@st.composite
def conditions(draw: st.DrawFn) -> str:
    """Draw a condition."""

    def pick(options: Sequence[str]) -> str:
        return draw(st.sampled_from(options))

    op = pick(("==", "<", "<=", ">", ">=", "!="))
    match draw(st.integers(0, 8)):
        case 0:
            return f"{pick(_QUANTITIES)} {op} {pick(_QUANTITIES[:12])}"
        case 1:
            sign = pick("+-*")
            return f"{pick(_QUANTITIES)} {sign} {pick(_QUANTITIES[:12])} {op} {pick(_QUANTITIES)}"
        case 2:
            both = f"{pick(_QUANTITIES[:7])}, {pick(_QUANTITIES)}"
            return f"{pick(('min', 'max'))}({both}) {op} {pick(_QUANTITIES[:7])}"
        case 3:
            return f"{pick(_OTHERS[:5])} {pick(('==', '!='))} {pick(_OTHERS)}"
        case 4:
            return f"{pick(_OTHERS[:4])} {pick(_PATTERNS)}"
        case 5:
            return f"{pick(_OTHERS[:4])} in {pick(_LISTS)}"
        case 6:
            field = pick(tuple(_OF_ELEMENTS))
            return f"{pick(('any', 'all'))} y in {field}: {pick(_OF_ELEMENTS[field])}"
        case 7:
            return f"{pick(_TIMES)} {pick(('<', '>=', '=='))} {pick(_OTHER_TIMES)}"
        case _:
            return f"now within {pick(_DAYS)}"


@lru_cache(maxsize=4096)
def checked_condition(condition: str) -> checked.Test | None:
    """Return a condition as it is checked; None if the checks refuse it."""
    statements = ("policy for every agent", "default deny", f"deny mark when {condition}")
    text = PolicyText(files=(("global.policy", statements),))
    try:
        built = build_over(text, CATALOG, context={"t": "time"})
    except Unsound:
        return None
    (rule,) = built.program.layer_plan(0, MARK).restricting
    return rule.rule.when

"""A condition on lists within lists looks at a bounded number of elements."""

from __future__ import annotations

from pathlib import Path

import pytest

import policy
from policy.catalog import Origin, ToolSpec
from policy.model import ToolCall

_LIST = {"type": "array", "items": {"type": "string"}}
_FIELDS = {"items": _LIST, "others": _LIST, "text": {"type": "string"}}
_SCHEMA = {"type": "object", "properties": _FIELDS}
_SPEC = ToolSpec(name="use", origin=Origin(tool="use"), schema=_SCHEMA, complete=True)
_RULES = """\
policy for every agent

default deny
ok: allow use
twice: deny use when {}
"""
_ANY = 'any y in input.items: x == y and x == "twice"'
_CONDITIONS = [
    f"any x in input.items: {_ANY}",
    f"count(x in input.items: {_ANY}) > 0",
    'any x in input.items: count(y in input.items: x == y and x == "twice") > 0',
]


@pytest.mark.parametrize("condition", _CONDITIONS)
@pytest.mark.parametrize(("count", "verdict"), [(440, "allow"), (448, "deny"), (20_000, "deny")])
def test_beyond_the_bound_it_is_not_known(
    tmp_path: Path, count: int, verdict: str, condition: str
) -> None:
    (tmp_path / "global.policy").write_text(_RULES.format(condition))
    judge = policy.load(tmp_path, catalog=policy.builtin_catalog().with_tools([_SPEC]))
    items = [f"item {number}" for number in range(count)]
    # Again and again: what one call has looked at does not count for the next.
    for _ in range(2):
        decision = judge.decide(ToolCall(tool="use", input={"items": items}))
        assert decision.verdict == verdict
        short = judge.decide(ToolCall(tool="use", input={"items": items[:100]}))
        assert short.verdict == "allow"
    assert judge.decide(ToolCall(tool="use", input={"items": ["twice"]})).verdict == "deny"


@pytest.mark.parametrize(
    ("condition", "most"),
    [
        ("any x in input.items: input.text contains x", 1_900),
        ("any x in input.items: input.text matches /^no$/", 1_900),
        ("any x in input.items: x in input.others", 180),
    ],
)
def test_what_is_looked_at_for_each_element_counts(
    tmp_path: Path, condition: str, most: int
) -> None:
    (tmp_path / "global.policy").write_text(_RULES.format(condition))
    judge = policy.load(tmp_path, catalog=policy.builtin_catalog().with_tools([_SPEC]))
    given = {"text": "x " * 50_000, "others": [f"other {number}" for number in range(2_000)]}
    for count, verdict in ((most, "allow"), (most * 2, "deny")):
        items = [f"item {number}" for number in range(count)]
        decision = judge.decide(ToolCall(tool="use", input={"items": items, **given}))
        assert decision.verdict == verdict

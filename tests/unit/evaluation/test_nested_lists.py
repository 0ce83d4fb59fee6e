"""A condition on lists within lists looks at a bounded number of elements."""

from __future__ import annotations

from pathlib import Path

import pytest

import policy
from policy.catalog import Origin, ToolSpec
from policy.model import ToolCall

_SCHEMA = {"type": "object", "properties": {"items": {"type": "array"}}}
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

"""Edits of rewrites: what they do to verdicts is shown by a call, or left open; never the same."""

from __future__ import annotations

import pytest

from policy.verify import compare
from tests.unit.verify.proving import Policy, built_of, tool

TOOL = tool("t", {"a": {}, "b": {}})
CAP = "cap: rewrite t set input.a = at most 5"
OTHER = "other: rewrite t set input.b = 1"


@pytest.mark.parametrize(
    ("before", "after", "status"),
    [
        ((), (CAP,), "tighter"),
        ((CAP,), (), "looser"),
        ((), (OTHER,), "not-looser"),
        ((OTHER,), (OTHER, CAP), "undecided"),
        ((CAP,), (CAP.replace("5", "6"),), "undecided"),
        ((CAP,), (CAP.replace("cap", "named"),), "same"),
    ],
)
def test_an_edit_of_rewrites(before: tuple[str, ...], after: tuple[str, ...], status: str) -> None:
    head = ("policy for every agent", "default allow")
    old, new = (
        Policy(program=built_of({"global.policy": (*head, *rules)}, specs=(TOOL,)).program)
        for rules in (before, after)
    )
    rows = compare(old, new).tools
    assert [row.status for row in rows] == ([] if status == "same" else [status])

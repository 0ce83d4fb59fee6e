"""Mistakes with amounts, times and lists are found by a claim, and by comparing with before."""

from __future__ import annotations

import pytest

from policy.verify import compare, prove
from tests.unit.verify.proving import Policy, built_of, tool

pytest.importorskip("z3", reason="z3 is installed on Linux on x86-64 alone")

TEXT = {"type": "string"}
AMOUNT = {"type": "integer", "minimum": 0, "maximum": 1_000_000}
PAY = tool(
    "pay",
    {
        "amount": AMOUNT,
        "fee": AMOUNT,
        "balance": AMOUNT,
        "price": AMOUNT,
        "count": AMOUNT,
        "asked_at": TEXT,
        "owner": TEXT,
        "payees": {"type": "array", "items": TEXT},
    },
)
HEAD = ("policy for every agent", "default deny")
# What was thought, the rule before, the rule after, what must never be, and a part of the call.
EDITS = (
    # "the fee is the bank's business"
    (
        "input.amount + input.fee <= input.balance",
        "input.amount <= input.balance",
        "input.amount + input.fee > input.balance",
        "fee",
    ),
    # "a hundred pieces are fine"
    (
        "input.price * input.count <= 1000",
        "input.price <= 1000 and input.count <= 100",
        "input.price * input.count > 1000",
        "price",
    ),
    # "ten minutes are too short": and hours are meant to be minutes
    (
        "now - time(input.asked_at) <= 10m",
        "now - time(input.asked_at) <= 15h",
        "now - time(input.asked_at) > 1h",
        "asked_at",
    ),
    # "the smaller one of the two counts"
    (
        "max(input.amount, input.fee) <= 50",
        "min(input.amount, input.fee) <= 50",
        "input.amount > 50",
        "amount",
    ),
    # "one payee of ours is enough"
    (
        'all x in input.payees: x ends with "@ours.example"',
        'any x in input.payees: x ends with "@ours.example"',
        'any x in input.payees: x ends with "@theirs.example"',
        "@theirs.example",
    ),
    # "others may pay for the owner"
    (
        "user.id == input.owner",
        "user.id is present",
        "user.id != input.owner",
        "owner",
    ),
)


@pytest.mark.parametrize(("before", "after", "never", "part"), EDITS)
def test_a_seeded_mistake_is_found(before: str, after: str, never: str, part: str) -> None:
    claim = f"prove never allow pay when {never}"
    old, new = (
        built_of({"global.policy": (*HEAD, f"allow pay when {one}", claim)}, specs=(PAY,))
        for one in (before, after)
    )
    assert [found.status for found in prove(old)] == ["holds"]
    (found,) = prove(new)
    assert found.counterexample is not None
    assert part in found.counterexample.as_test("")
    (row,) = compare(Policy(program=old.program), Policy(program=new.program)).tools
    assert row.looser.witness is not None

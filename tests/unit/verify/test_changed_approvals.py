"""What must be approved is compared: of whom, by how many, and for how long it is remembered."""

from __future__ import annotations

import pytest

from policy.verify import ToolDifference, compare
from policy.verify.difference.changes import Direction
from tests.unit.verify.proving import Policy, built_of, tool

_REFUND = tool("refund", {"amount": {"type": "integer"}})
_UP_TO = "pay: allow refund when input.amount <= {}"
_FINANCE = 'with approval by "finance"'
_ONE = f"{_FINANCE} remember {{}} up to {{}} times"


def _compared(before: tuple[str, ...], after: tuple[str, ...]) -> ToolDifference:
    every = ("policy for every agent", "default deny")
    old, new = (
        Policy(program=built_of({"global.policy": (*every, *rules)}, specs=(_REFUND,)).program)
        for rules in (before, after)
    )
    (found,) = compare(old, new).tools
    return found


@pytest.mark.parametrize(
    "approval",
    [_FINANCE, f'{_FINANCE}, "legal"', f"{_FINANCE} two people", "with approval two people"],
)
def test_the_same_approvers_for_fewer_calls_are_tighter(approval: str) -> None:
    large, small = (f"{_UP_TO.format(most)} {approval}" for most in (500, 400))
    found = _compared((large,), (small,))
    assert (found.status, found.approvals, found.may_loosen) == ("tighter", "none", False)
    back = _compared((small,), (large,))
    assert (back.status, back.may_loosen) == ("looser", True)


def test_fewer_calls_with_an_approval_are_looser_where_another_rule_allows_them() -> None:
    more = "other: allow refund when input.amount <= 1000"
    large, small = (f"{_UP_TO.format(most)} {_FINANCE}" for most in (500, 400))
    assert _compared((large, more), (small, more)).status == "looser"


@pytest.mark.parametrize(
    ("weak", "strict"),
    [
        ("with approval", _FINANCE),
        ("with approval", "with approval two people"),
        (_FINANCE, f"{_FINANCE} two people"),
        (f'{_FINANCE}, "legal"', _FINANCE),
        (f'{_FINANCE}, "legal"', f'{_FINANCE}, "legal" two people'),
        (_FINANCE, f'{_FINANCE}, "legal" two people'),
        ("with approval two people", f'{_FINANCE}, "legal" two people'),
        (_ONE.format("2h", 3), _ONE.format("1h", 3)),
        (_ONE.format("2h", 3), _ONE.format("2h", 2)),
        (_ONE.format("2h", 3), _FINANCE),
    ],
)
def test_an_approval_that_includes_another_is_tighter(weak: str, strict: str) -> None:
    before, after = (f"{_UP_TO.format(500)} {one}" for one in (weak, strict))
    found = _compared((before,), (after,))
    assert (found.status, found.approvals, found.may_loosen) == ("same", "tighter", False)
    back = _compared((after,), (before,))
    assert (back.status, back.approvals, back.may_loosen) == ("same", "looser", True)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (_FINANCE, 'with approval by "legal"'),
        (_FINANCE, "with approval two people"),
        (_ONE.format("2h", 3), _ONE.format("1h", 4)),
        (_ONE.format("session", 3), _ONE.format("1h", 3)),
    ],
)
def test_another_approval_is_undecided(one: str, other: str) -> None:
    before, after = (f"{_UP_TO.format(500)} {each}" for each in (one, other))
    expected: Direction = "unclear"
    assert _compared((before,), (after,)).approvals == expected
    assert _compared((after,), (before,)).approvals == expected


def test_an_approval_that_is_less_for_some_calls_is_found_beside_one_that_is_more() -> None:
    before = (
        f"{_UP_TO.format(900)} with approval",
        'high: ask refund when input.amount > 800 by "finance"',
    )
    after = (f"{_UP_TO.format(900)} with approval two people",)
    found = _compared(before, after)
    assert found.may_loosen
    assert (found.approval.found, found.more_approval.found) == ("yes", "yes")

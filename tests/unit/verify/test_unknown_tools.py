"""Changed statements about tools that no policy knows: undecided where they may loosen."""

from __future__ import annotations

import pytest

from policy.catalog import Catalog
from policy.verify import Difference, compare
from tests.laws.engine import build_over
from tests.laws.policies import PolicyText
from tests.unit.verify.proving import Policy, tool

KNOWN = (tool("known", {"url": {"type": "string"}}),)
HEAD = ("policy for every agent", "default deny")


def _compared(old: str, new: str, *, complete: bool = False) -> Difference:
    policies = []
    for rules in (old, new):
        text = PolicyText(files=(("global.policy", (*HEAD, *rules.split("; "))),))
        policies.append(
            Policy(program=build_over(text, Catalog(specs=KNOWN, complete=complete)).program)
        )
    return compare(*policies)


SMALL, LARGE = (f"allow refund when input.amount <= {most}" for most in (100, 1000))


@pytest.mark.parametrize(
    ("old", "new", "verb", "named"),
    [
        (SMALL, LARGE, "added", "`refund`"),
        ("", "allow refund, mcp github/*", "added", "`refund`, `mcp github/*`"),
        ("", "allow pay_*", "added", "`pay_*`"),
        ("", "allow *", "added", ""),
        ("", "tools payments = refund, payout; allow payments", "added", "`refund`, `payout`"),
        ("", "allow known, refund with approval", "added", "`refund`"),
        ("", 'delegate refund to agent "a"', "added", "`refund`"),
        ("", "default ask for refund", "added", "`refund`"),
        ("allow *; deny refund", "allow *", "removed", "`refund`"),
        ("allow *; deny refund", "allow *; ask refund", "removed", "`refund`"),
        ("allow *; deny *", "allow *; deny * except refund", "added", "`refund`"),
        ("allow * except refund", "allow *", "removed", "`refund`"),
    ],
)
def test_what_may_loosen_is_undecided_and_named(old: str, new: str, verb: str, named: str) -> None:
    found = _compared(old, new)
    about = [one for one in found.changes if one.kind == "statement"]
    if not named:
        assert about == []
        return
    (change,) = about
    assert (change.direction, found.may_loosen) == ("unclear", True)
    assert change.what.startswith(f"{verb} for {named}, which ")
    assert "`--catalog`" in change.what
    assert change.place.startswith("global.policy:")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (SMALL, SMALL),
        (SMALL, f"pay: {SMALL}"),
        (SMALL, ""),
        (SMALL, f"{SMALL} with approval"),
        ("", "deny refund, mcp github/*"),
        ("allow refund", "allow refund; ask refund"),
        ("", "deny * except refund"),
        ("allow refund", "allow refund; limit refund to 3"),
        ("allow refund; ask refund", "allow refund; deny refund"),
        (SMALL, f"{SMALL}; allow known when input.url == 'x'".replace("'", '"')),
    ],
)
def test_what_restricts_or_stays_says_nothing(old: str, new: str) -> None:
    assert [one for one in _compared(old, new).changes if one.kind == "statement"] == []


def test_a_complete_catalogue_has_no_unknown_tools() -> None:
    found = _compared("", "allow * when input.url == 'a'".replace("'", '"'), complete=True)
    assert [one for one in found.changes if one.kind == "statement"] == []

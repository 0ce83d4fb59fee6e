"""What changed statements may let tools do that a policy does not know: undecided, and named."""

from __future__ import annotations

from dataclasses import replace

import pytest

from policy.catalog import Catalog, ToolSpec
from policy.verify import Difference, compare
from tests.laws.engine import build_over
from tests.laws.policies import PolicyText
from tests.unit.verify.proving import Policy, tool

KNOWN = (tool("known", {"url": {"type": "string"}}),)


def _compared(
    old: str,
    new: str,
    *,
    complete: bool = False,
    default: str = "deny",
    only_old: tuple[ToolSpec, ...] = (),
) -> Difference:
    head = ("policy for every agent", f"default {default}")
    policies = []
    for rules, more in ((old, only_old), (new, ())):
        text = PolicyText(files=(("global.policy", (*head, *rules.split("; "))),))
        catalog = Catalog(specs=(*KNOWN, *more), complete=complete)
        policies.append(Policy(program=build_over(text, catalog).program))
    return compare(*policies)


SMALL, LARGE = (f"allow refund when input.amount <= {most}" for most in (100, 1000))


ELSE = "tools are listed in `[catalogue]`, or with `--catalog`"
READS = "deny * when reads"


@pytest.mark.parametrize(
    ("old", "new", "verb", "named"),
    [
        (SMALL, LARGE, "added", "`refund`"),
        ("", "allow refund, mcp github/*", "added", "`refund`, `mcp github/*`"),
        ("", "allow pay_*", "added", "`pay_*`"),
        ("", "allow *", "added", "`*`"),
        ("", "tools payments = refund, payout; allow payments", "added", "`payout`, `refund`"),
        ("", "allow known, refund with approval", "added", "`refund`"),
        ("", 'allow * when tool.category == "a"', "added", "`*`"),
        ("", "default ask for refund", "added", "`refund`"),
        ("allow *; deny refund", "allow *", "removed", "`refund`"),
        ("allow *; deny refund", "allow *; ask refund", "removed", "`refund`"),
        ("allow *; deny *", "allow *; deny * except refund", "removed", "`refund`"),
        ("allow * except refund", "allow *", "added", "`refund`"),
        ("allow known", "allow kn*", "added", "`kn*`"),
        ("allow k*; deny k*", "allow k*; deny known", "removed", "`k*`"),
        ("allow *; deny * except known", "allow *; deny *_* except known", "removed", "`*`"),
        ("allow *; deny mcp git/*", "allow *; deny mcp git/push", "removed", "`mcp git/*`"),
        ("allow *; deny t_*_x", "allow *; deny t_*_x except t_*y*", "removed", "`t_*_x`"),
        ("allow *; deny pay", 'allow *; deny "pay@2"', "removed", "`pay`"),
        ("allow *; allow refund with approval", "allow *", "removed", "`refund`"),
        ("allow *; ask refund two people", "allow *; ask refund", "removed", "`refund`"),
        (f'allow *; {READS} ["/a", "/b"]', f'allow *; {READS} "/a"', "removed", "`*`"),
    ],
)
def test_what_may_loosen_is_undecided_and_named(old: str, new: str, verb: str, named: str) -> None:
    found = _compared(old, new)
    (change,) = (one for one in found.changes if one.kind == "statement")
    assert (change.direction, found.may_loosen) == ("unclear", True)
    assert change.what.startswith(f"{verb} for {named}, ")
    assert f" not in the catalogue ({ELSE}): " in change.what
    assert change.place.startswith("global.policy:")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("default ask for refund", ""),
        ("allow refund with approval", ""),
        ('delegate refund to agent "a"', ""),
    ],
)
def test_what_restricts_under_a_default_that_allows(old: str, new: str) -> None:
    (change,) = (
        one for one in _compared(old, new, default="allow").changes if one.kind == "statement"
    )
    assert change.direction == "unclear"
    assert change.what.startswith("removed for `refund`, which is not in the catalogue")
    # Where nothing else allows the tool, it restricts to remove them.
    assert [one for one in _compared(old, new).changes if one.kind == "statement"] == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (SMALL, SMALL),
        (SMALL, f"pay: {SMALL}"),
        (SMALL, ""),
        (LARGE, SMALL),
        (SMALL, f"{SMALL} with approval"),
        ("", "deny refund, mcp github/*"),
        ("allow *", "allow *; deny refund; ask ref*"),
        ("", 'delegate refund to agent "a"'),
        ("allow refund", "allow refund; ask refund"),
        ("allow refund; ask refund", "allow refund; ask refund two people"),
        ("", "deny * except refund"),
        ("deny * except refund", ""),
        ("allow refund", "allow refund; limit refund to 3"),
        ("allow refund; ask refund", "allow refund; deny refund"),
        ("allow *; deny refund", "allow *; deny ref*"),
        ("allow *; deny refund, t_a; deny t_*", "allow *; deny refund; deny t_*"),
        (SMALL, f"{SMALL}; allow known when input.url == 'x'".replace("'", '"')),
        ("allow *; deny known", "allow *"),
        ("allow *", "allow *; deny *"),
        ("allow *; deny *", "allow * except known; deny *"),
        (f'allow *; {READS} "/a"', f'allow *; {READS} ["/a", "/b"]'),
        ('allow * when reads only ["/a", "/b"]', 'allow * when reads only "/a"'),
    ],
)
def test_what_restricts_or_stays_says_nothing(old: str, new: str) -> None:
    assert [one for one in _compared(old, new).changes if one.kind == "statement"] == []


def test_a_complete_catalogue_has_no_unknown_tools() -> None:
    found = _compared("", "allow * when input.url == 'a'".replace("'", '"'), complete=True)
    assert [one for one in found.changes if one.kind == "statement"] == []


def test_more_classes_than_are_compared_are_undecided() -> None:
    many = "; ".join(f"deny t{number}_*" for number in range(310))
    found = _compared(f"allow *; {many}; deny *", f"allow *; {many}")
    (change,) = (one for one in found.changes if one.kind == "statement")
    assert change.what.startswith("removed for `*`, as far as ")


REFUND = tool("refund", {"amount": {"type": "number"}})
FREE = replace(REFUND, complete=False)
LIMITED = "deny refund when input.amount > 100"


def test_a_tool_that_is_no_longer_known_is_compared_by_its_fields() -> None:
    def changed(old: str, new: str, spec: ToolSpec = FREE, *, complete: bool = False) -> list[str]:
        found = _compared(old, new, complete=complete, default="allow", only_old=(spec,))
        return [one.what for one in found.changes if one.direction == "unclear"]

    (what,) = changed(LIMITED, "")
    assert what.startswith("removed for `refund`, which is no longer in the catalogue")
    assert changed(LIMITED, "", complete=True) == [what]
    assert changed("deny refund", "") != []
    assert changed(LIMITED, LIMITED) == []
    assert changed(LIMITED, "deny refund when input.amount > 50") == []
    # What was declared of it may be gone.
    for spec in (REFUND, replace(FREE, requires_confirmation=True)):
        (what,) = changed(LIMITED, LIMITED, spec)
        assert what.startswith("removed: the tool `refund`, which may come back without")
        assert changed(LIMITED, "deny refund", spec) == []

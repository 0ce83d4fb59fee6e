"""Whether an edit certainly only tightens, as its statements alone show: no call is decided."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from typing import Any

from policy.checks import checked
from policy.evaluation import is_as_enforceable
from policy.model import Verdict
from policy.program import Program, meaning_digest
from policy.values import PathContext
from policy.verify.difference.limit_changes import covers
from policy.verify.difference.statements import ChangedLayer, Statement, changed_layers

# Any folders do: whether a sandbox can keep code within a set depends on how it is written.
_FOLDERS = PathContext(home="/home/user", workspace="/workspace")


def only_tightens(old: Program, new: Program) -> bool:
    """Return whether no call gets a looser verdict, as the statements that differ show.

    Rules and limits that restrict may be new, and the condition of a rule may have other sets, if
    with these an `allow` matches no more calls, and an `ask` or a `deny` no fewer.

    False where that is not obvious. It is about rules: settings and data must be the same.
    """
    if not _have_the_same_tools(old, new):
        return False
    if [layer.key for layer in old.policy.layers] != [layer.key for layer in new.policy.layers]:
        return False
    return all(map(_layer_tightens, changed_layers(old, new)))


def claims_as_much(new: checked.CheckedInvariant, old: checked.CheckedInvariant) -> bool:
    """Return whether a claim is certainly about all calls that another one is about."""
    return (
        (new.kind, new.claim) == (old.kind, old.claim)
        and covers(new.tools, old.tools)
        and all(
            any(_holds_less(each, one) for each in _conjuncts(old.when))
            for one in _conjuncts(new.when)
        )
        and (new.unless is None or _holds_less(new.unless, old.unless))
    )


def _conjuncts(test: checked.Test | None) -> tuple[checked.Test, ...]:
    if test is None:
        return ()
    return test.tests if isinstance(test, checked.AllOf) else (test,)


def _layer_tightens(layer: ChangedLayer) -> bool:
    before, after = _by_name(layer.removed), _by_name(layer.added)
    return all(
        _affects_no_call(one) or _is_stricter(after.get(_name(one)), one) for one in layer.removed
    ) and all(
        _only_restricts(one) or _is_stricter(one, before.get(_name(one))) for one in layer.added
    )


def _by_name(statements: tuple[Statement, ...]) -> dict[str, Statement]:
    names = Counter(map(_name, statements))
    return {name: one for one in statements if (name := _name(one)) and names[name] == 1}


def _name(statement: Statement) -> str:
    return statement.id if isinstance(statement, checked.CheckedRule) else ""


def _have_the_same_tools(old: Program, new: Program) -> bool:
    before, after = old.catalog, new.catalog
    return (
        before.complete == after.complete
        and before.specs == after.specs
        and all(a.coerce is b.coerce for a, b in zip(before.specs, after.specs, strict=True))
    )


def _affects_no_call(statement: Statement) -> bool:
    return isinstance(statement, checked.CheckedInvariant)


def _only_restricts(statement: Statement) -> bool:
    """Return whether more of such a statement never loosens a verdict: an `ask` never grants."""
    match statement:
        case checked.CheckedRule():
            return statement.verdict is not Verdict.ALLOW
        case checked.CheckedLimit() | checked.CheckedInvariant():
            return True
        case _:
            return False


def _is_stricter(new: Statement | None, old: Statement | None) -> bool:
    """Return whether one rule in the place of another certainly loosens no verdict."""
    if not isinstance(new, checked.CheckedRule) or not isinstance(old, checked.CheckedRule):
        return False
    if new.with_approval or _but_for_conditions(new) != _but_for_conditions(old):
        return False
    weaker, stronger = (new, old) if new.verdict is Verdict.ALLOW else (old, new)
    return _holds_less(weaker.when, stronger.when) and _holds_less(stronger.unless, weaker.unless)


def _but_for_conditions(rule: checked.CheckedRule) -> tuple[object, ...]:
    """Return all that decides besides the conditions, but for whether there are any."""
    there = (rule.when is None, rule.unless is None)
    return rule.verdict, rule.with_approval, rule.tools, rule.terms, rule.speaks_of_resources, there


def _holds_less(one: checked.Test | None, other: checked.Test | None) -> bool:
    """Return whether a condition is never truer than another: false < indeterminate < true.

    The two differ in nothing but their sets, or that is not certain.
    """
    match one, other:
        case checked.AllOf() | checked.AnyOf(), checked.AllOf() | checked.AnyOf():
            return (
                type(one) is type(other)
                and len(one.tests) == len(other.tests)
                and all(map(_holds_less, one.tests, other.tests))
            )
        case checked.NotOf(), checked.NotOf():
            return _holds_less(other.test, one.test)
        case checked.Quantified(), checked.Quantified():
            return _alike(one, other, "kind", "slot", "index_slot", "source") and _holds_less(
                one.test, other.test
            )
        case checked.Membership(right=checked.ValueSet() as small), checked.Membership(
            right=checked.ValueSet() as large
        ):
            return _alike(one, other, "left") and _is_within(small, large)
        case checked.Comparison(right=checked.Constant()), checked.Comparison(
            right=checked.Constant()
        ) if _are_bounds(one, other):
            return _alike(one, other, "left") and _is_closer(one, other)
        case checked.ResourceTest(operand=checked.ValueSet()), checked.ResourceTest(
            operand=checked.ValueSet()
        ):
            return _is_met_less(one, other)
        case _:
            return meaning_digest(one) == meaning_digest(other)


def _are_bounds(one: checked.Comparison, other: checked.Comparison) -> bool:
    """Return whether both compare with a number, in the same direction."""
    return one.op[0] == other.op[0] != "=" and all(
        isinstance(value, int | Decimal) and not isinstance(value, bool)
        for value in (_bound(one), _bound(other))
    )


def _is_closer(one: checked.Comparison, other: checked.Comparison) -> bool:
    """Return whether one of two bounds leaves no number that the other one does not."""
    here, there = _bound(one), _bound(other)
    if here == there:
        return one.op == other.op or other.op.endswith("=")
    return bool((here > there) == (one.op[0] == ">"))


def _bound(comparison: checked.Comparison) -> Any:
    right = comparison.right
    return right.value if isinstance(right, checked.Constant) else None


def _alike(one: checked.Test, other: checked.Test, *fields: str) -> bool:
    """Return whether fields of two tests mean the same."""
    return all(
        meaning_digest(getattr(one, name)) == meaning_digest(getattr(other, name))
        for name in fields
    )


def _is_met_less(one: checked.ResourceTest, other: checked.ResourceTest) -> bool:
    """Return whether a test of resources is never truer than another, by their sets.

    `only` is true of code in a sandbox only if the sandbox can enforce the set.
    """
    small, large = one.operand, other.operand
    assert small is not None and large is not None, "only tests with sets are compared"
    if not _alike(one, other, "verb", "form", "permits", "beside", "any_redirection", "surely"):
        return False
    if bool(small.included) != bool(large.included):
        return False  # a test with an empty set means `nothing`
    if one.form == "outside":
        return _is_within(large, small)
    if not _is_within(small, large):
        return False
    return one.form != "only" or is_as_enforceable(small, large, _FOLDERS)


def _is_within(small: checked.ValueSet, large: checked.ValueSet) -> bool:
    """Return whether a set has no items but those of another, as both are written."""
    return (
        small.kind == large.kind
        and all(any(_has(there, one) for there in large.included) for one in small.included)
        and all(any(_has(there, one) for there in small.excluded) for one in large.excluded)
    )


def _has(there: checked.SetPart, one: checked.SetPart) -> bool:
    if isinstance(there, checked.ValueSet) and isinstance(one, checked.ValueSet):
        return _is_within(one, there)
    return type(there) is type(one) and there == one

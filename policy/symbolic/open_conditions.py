"""Which conditions leave a claim undecided: those that came out as anything where it is broken."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Literal, TypeAlias

from policy.checks import checked
from policy.program import LayerPlan, RulePlan
from policy.solving import Model
from policy.symbolic.all_calls import AllCalls
from policy.symbolic.leaves import leaves_of
from policy.symbolic.reading import Scope
from policy.symbolic.subjects import DEPTH, HISTORY, PARENT, Subject, subjects_of
from policy.symbolic.verdicts import AnyPlan
from policy.symbolic.violation import Claim
from policy.values import HostPattern, read_host_pattern

# Why nothing is known of a condition: it is about what a script accesses or which commands it runs,
# about other resources, about what came before, about elements of lists within lists or by their
# index, about what a rewrite leaves of a field, about addresses of names, about the agents above
# the caller, about the text of a path, about a field of which the schema demands more than types
# and bounds, or about another value; or it is known by itself, and not together with the others.
WhyOpen: TypeAlias = Literal[
    "script",
    "commands",
    "resources",
    "history",
    "nested",
    "index",
    "rewritten",
    "addresses",
    "callers",
    "spelled",
    "schema",
    "value",
    "together",
]
_MOST = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenCondition:
    """A condition of a claim, or of the rule at `place`, by its text, and why it is open.

    `rule` is empty for the claim.
    """

    text: str
    why: WhyOpen
    rule: str = ""
    place: str = ""


def open_conditions(
    reading: AllCalls, model: Model, claim: Claim, layers: Sequence[LayerPlan]
) -> tuple[OpenCondition, ...]:
    """Return the open conditions of the claim, and of each `allow` that matches in an assignment.

    If there are none, what the claim says is not related to what the rules say.
    """
    invariant = claim.invariant
    found: dict[OpenCondition, None] = {}
    place = f"{invariant.span.file}:{invariant.span.line}"
    own = Scope(claim.declared, absent_is_false=True)
    for test, scope in _leaves(invariant.when, invariant.unless, own):
        why = _why_open(reading, test, scope)
        if why is not None:
            found[OpenCondition(text=test.text, why=why, place=place)] = None
    for layer in layers:
        for plan in layer.allows:
            if _may_match(reading, model, layer, plan):
                found.update(dict.fromkeys(open_conditions_of_rule(reading, layer, plan)))
    if not any(not one.rule for one in found):
        rewritten = frozenset(_rewritten(layers))
        # Where a rule's condition is open, that is the likelier reason.
        named = frozenset(
            ("input", resource.steps[0])
            for resource in claim.declared.resources
            if resource.steps and resource.verb != "runs" and not found
        )
        more = (
            OpenCondition(
                text=test.text, why=_why_together(reading, test, rewritten, named), place=place
            )
            for test in leaves_of(invariant.when, invariant.unless)
        )
        return (*more, *found)[:_MOST]
    return tuple(found)[:_MOST]


def open_conditions_of_rule(
    reading: AllCalls, layer: LayerPlan, plan: AnyPlan
) -> Iterator[OpenCondition]:
    """Yield the open conditions of a rule, as they were read."""
    place = f"{plan.reason.file}:{plan.reason.line}"
    for test, scope in _leaves_of_rule(layer, plan):
        why = _why_open(reading, test, scope)
        if why is not None:
            yield OpenCondition(text=test.text, why=why, rule=plan.reason.rule, place=place)


def _leaves_of_rule(layer: LayerPlan, plan: AnyPlan) -> Iterator[tuple[checked.Test, Scope]]:
    grants, covering = False, False
    if isinstance(plan, RulePlan):
        grants, covering = plan.grants, plan.covering
    scope = Scope(layer.declared, absent_is_false=not grants, covering=covering)
    return _leaves(plan.rule.when, plan.rule.unless, scope)


def _may_match(reading: AllCalls, model: Model, layer: LayerPlan, plan: RulePlan) -> bool:
    if not _is_conjunction(plan.rule.when) or plan.rule.unless is not None:
        return True
    truths = (reading.leaf(test, scope) for test, scope in _leaves_of_rule(layer, plan))
    return not any(-truth.holds in model.holding for truth in truths)


def _why_together(
    reading: AllCalls,
    test: checked.Test,
    rewritten: frozenset[Subject],
    named: frozenset[Subject],
) -> WhyOpen:
    """Return why a test is not known together with others, which is known by itself.

    `named` are the fields by which files and hosts are declared.
    """
    if not subjects_of(test).isdisjoint(rewritten):
        return "rewritten"
    if isinstance(test, checked.ResourceTest) and test.operand and _has_networks(test.operand):
        return "addresses"
    if not subjects_of(test).isdisjoint((PARENT, DEPTH)):
        return "callers"
    if not subjects_of(test).isdisjoint(named):
        return "spelled"
    if any(reading.demands_more(subject) for subject in subjects_of(test)):
        return "schema"
    return "index" if _has(test, checked.ElementAt) else "together"


def _rewritten(layers: Sequence[LayerPlan]) -> Iterator[Subject]:
    """Yield the fields of which rewrites change a part, or what matches."""
    for layer in layers:
        for plan in layer.rewrites:
            for change in plan.rule.changes:
                if change.kind == "redact" or any(isinstance(one, int) for one in change.steps):
                    yield ("input", str(change.steps[0]))


def _leaves(
    when: checked.Test | None, unless: checked.Test | None, scope: Scope
) -> Iterator[tuple[checked.Test, Scope]]:
    """Yield the tests of a statement, each in its scope, as they were read."""
    yield from ((test, scope) for test in leaves_of(when))
    outside = replace(scope, absent_is_false=False, covering=False)
    yield from ((test, outside) for test in leaves_of(unless))


def _is_conjunction(test: checked.Test | None) -> bool:
    """Return whether a condition is true only if each test in it is."""
    if isinstance(test, checked.AllOf):
        return all(map(_is_conjunction, test.tests))
    return not isinstance(test, (checked.AnyOf, checked.NotOf))


def _why_open(reading: AllCalls, test: checked.Test, scope: Scope) -> WhyOpen | None:
    """Return why a test may come out as anything; None if its truth is modelled."""
    if not reading.is_open(test, scope):
        return None
    if isinstance(test, checked.ResourceTest):
        if "runs" not in scope.declared.verbs:
            return "resources"
        return "commands" if test.verb == "runs" else "script"
    if HISTORY in subjects_of(test):
        return "history"
    if isinstance(test, checked.Quantified):
        return "nested" if _has(test.test, checked.Quantified) else "value"
    return "index" if _has(test, checked.ElementAt) else "value"


def _has_networks(values: checked.ValueSet) -> bool:
    """Return whether a set of hosts has networks in it, of which names may have addresses."""
    if values.kind != "hosts":
        return False
    for part in values.included:
        if isinstance(part, checked.ValueSet):
            if _has_networks(part):
                return True
        elif isinstance(part, str):
            found = read_host_pattern(part)
            if isinstance(found, HostPattern) and found.networks:
                return True
    return False


def _has(node: object, kind: type) -> bool:
    """Return whether a part of a condition is of a kind."""
    if isinstance(node, tuple):
        return any(_has(part, kind) for part in node)
    if isinstance(node, kind):
        return True
    if not is_dataclass(node):
        return False
    return any(_has(getattr(node, part.name), kind) for part in fields(node))

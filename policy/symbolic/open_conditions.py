"""Which conditions leave a claim undecided: those that came out as anything where it is broken."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from policy.checks import checked
from policy.program import LayerPlan
from policy.solving import Model
from policy.symbolic.all_calls import AllCalls
from policy.symbolic.leaves import leaves_of
from policy.symbolic.reading import Scope
from policy.symbolic.subjects import HISTORY, subjects_of
from policy.symbolic.violation import Claim

# Why nothing is known of a condition: it is about what a script accesses or which commands it runs,
# about other resources, about what came before, about another value, or it is known by itself, and
# not together with the others.
WhyOpen: TypeAlias = Literal["script", "commands", "resources", "history", "value", "together"]
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
            rule, reason = plan.rule, plan.reason
            inner = Scope(layer.declared, absent_is_false=False, covering=plan.covering)
            leaves = tuple(_leaves(rule.when, rule.unless, inner))
            if _is_conjunction(rule.when) and rule.unless is None:
                truths = (reading.leaf(test, scope) for test, scope in leaves)
                if any(-truth.holds in model.holding for truth in truths):
                    continue  # it does not match
            where = f"{reason.file}:{reason.line}"
            for test, scope in leaves:
                why = _why_open(reading, test, scope)
                if why is not None:
                    one = OpenCondition(text=test.text, why=why, rule=reason.rule, place=where)
                    found[one] = None
    if not any(not one.rule for one in found):
        texts = (test.text for test in leaves_of(invariant.when, invariant.unless))
        more = (OpenCondition(text=text, why="together", place=place) for text in texts)
        return (*more, *found)[:_MOST]
    return tuple(found)[:_MOST]


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
    return "history" if HISTORY in subjects_of(test) else "value"

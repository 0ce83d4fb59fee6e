"""The verdict of a policy on the calls of one tool, as literals.

It follows `decision.judgement`, for one caller and without rewrites, as `violation` does. Unlike
there, both directions count: two policies are compared by literals that hold exactly if a verdict
is at least as strict, under what the reading says of each condition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from policy.admission import input_fault
from policy.catalog import ToolSpec
from policy.checks import checked
from policy.evaluation import DeclaredResources, covering_tests
from policy.model import Terms, Verdict
from policy.program import LayerPlan, RedactionPlan, RewritePlan, RulePlan
from policy.solving import Clauses
from policy.symbolic.command_relations import command_set
from policy.symbolic.reading import Reading, demands
from policy.symbolic.set_relations import includes
from policy.symbolic.truths import Truths, all_of

AnyPlan: TypeAlias = RulePlan | RewritePlan | RedactionPlan
# The truth of the formula of a layer's rule.
TruthOf: TypeAlias = Callable[[LayerPlan, AnyPlan], Truths]


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictLiterals:
    """The literals that a verdict is at least `ask`, that it is `deny`, and by whom it is asked."""

    restricts: int
    denies: int
    asks: Mapping[Terms, int] = field(default_factory=dict)

    def at_least(self, verdict: Verdict) -> int:
        """Return the literal that the verdict is as strict as this one, or stricter."""
        return self.denies if verdict is Verdict.DENY else self.restricts


def always_denied(clauses: Clauses) -> VerdictLiterals:
    """Return the verdict on the calls of a tool that there is not."""
    return VerdictLiterals(restricts=clauses.true, denies=clauses.true)


def verdict_of(
    spec: ToolSpec, layers: Sequence[LayerPlan], reading: Reading, truth: TruthOf
) -> VerdictLiterals:
    """Return the verdict of a policy on a call; `truth` reads its rules."""
    opinions = list(_opinions(spec, layers, reading, truth))
    asking: dict[Terms, list[int]] = {}
    for verdict, literal, terms in opinions:
        if verdict is Verdict.ASK:
            asking.setdefault(replace(terms or Terms(), digest=None), []).append(literal)
    return VerdictLiterals(
        restricts=reading.clauses.any_of(
            literal for verdict, literal, _ in opinions if verdict >= Verdict.ASK
        ),
        denies=reading.clauses.any_of(
            literal for verdict, literal, _ in opinions if verdict is Verdict.DENY
        ),
        asks={terms: reading.clauses.any_of(each) for terms, each in asking.items()},
    )


def plans_in(layer: LayerPlan) -> Iterator[AnyPlan]:
    """Yield the rules of a layer on which a verdict depends."""
    yield from layer.allows
    yield from layer.restricting
    yield from layer.rewrites
    yield from (plan for plan in layer.redactions if not plan.reason.shadow)


def is_grant(plan: AnyPlan) -> bool:
    """Return whether a rule is an `allow`, or the half of one that grants."""
    return isinstance(plan, RulePlan) and plan.grants


def is_restricted(plan: AnyPlan, truths: Truths, clauses: Clauses) -> int:
    """Return the literal that a rule which is no `allow` is a reason for a stricter verdict."""
    if isinstance(plan, RulePlan):
        return -truths.fails
    return clauses.all_of([-truths.holds, -truths.fails])  # indeterminate


def _opinions(
    spec: ToolSpec, layers: Sequence[LayerPlan], reading: Reading, truth: TruthOf
) -> Iterator[tuple[Verdict, int, Terms | None]]:
    """Yield each reason for a verdict that restricts, its literal, and the terms of an `ask`."""
    clauses = reading.clauses
    if input_fault(spec) is not None:
        yield Verdict.DENY, clauses.true, None
    if spec.needs_review:
        yield spec.unreviewed, clauses.true, None
    if spec.requires_confirmation:
        yield Verdict.ASK, clauses.true, None
    yield Verdict.DENY, -reading.admitted(), None
    granting: list[int] = []
    delegated = layers[0].delegated_to if layers else ()
    for number, layer in enumerate(layers):
        applies = reading.applies(layer.key)
        allowed = clauses.any_of(truth(layer, plan).holds for plan in layer.allows)
        default = layer.default
        if default is not None:
            yield default.verdict, clauses.all_of([applies, -allowed]), default.terms
        for plan in (plan for plan in plans_in(layer) if not is_grant(plan)):
            matches = is_restricted(plan, truth(layer, plan), clauses)
            yield plan.reason.verdict, clauses.all_of([applies, matches]), plan.reason.terms
        if number == 0 and layer.key.kind == "every":
            granting.append(allowed if default is None else clauses.true)
        elif layer.key in delegated:
            given = clauses.true if layer.named_default else allowed
            granting.append(clauses.all_of([applies, given]))
    yield Verdict.DENY, -clauses.any_of(granting), None


class RuleReader:
    """Reads the formulas of rules; rules with the same clauses have the same truth.

    Whether every effect of a call is covered by an `allow` is known to `exact` readings alone. In
    others it is one variable for each set of clauses that cover, and implies the same of each set
    that includes more.
    """

    def __init__(self, reading: Reading, *, exact: bool) -> None:
        self._reading = reading
        self._exact = exact
        self._covers: list[_Cover] = []

    def __call__(self, layer: LayerPlan, plan: AnyPlan) -> Truths:
        """Return the truth of a rule's formula."""
        reading, rule = self._reading, plan.rule
        grants, covering, more = False, False, False
        if isinstance(plan, RulePlan):
            grants, covering, more = plan.grants, plan.covering, plan.more
        found = demands(
            rule.when, rule.unless, layer.declared, reading, grants=grants, covering=covering
        )
        if not more:
            return found
        assert isinstance(plan, RulePlan)
        covered = reading.covered(plan, layer.declared)
        if not self._exact:
            tests = tuple(covering_tests(rule.when))
            covered = reading.clauses.all_of([covered, self._is_covered(tests, layer.declared)])
        return all_of(reading.clauses, [found, Truths(covered, reading.clauses.false)])

    def _is_covered(
        self, tests: tuple[checked.ResourceTest, ...], declared: DeclaredResources
    ) -> int:
        like = [one for one in self._covers if one.declared.says_the_same(declared)]
        for one in like:
            if all(
                _covers_more(*both, declared) for both in ((one.tests, tests), (tests, one.tests))
            ):
                return one.literal
        made = _Cover(tests, declared, self._reading.clauses.variable())
        for one in like:
            for small, large in ((one, made), (made, one)):
                if _covers_more(large.tests, small.tests, declared):
                    self._reading.clauses.require(-small.literal, large.literal)
        self._covers.append(made)
        return made.literal


@dataclass(frozen=True, slots=True)
class _Cover:
    tests: tuple[checked.ResourceTest, ...]
    declared: DeclaredResources
    literal: int


def _covers_more(
    larger: tuple[checked.ResourceTest, ...],
    smaller: tuple[checked.ResourceTest, ...],
    declared: DeclaredResources,
) -> bool:
    """Return whether what some clauses cover is certainly covered by others, too."""
    return all(any(_implies(one, other, declared) for other in larger) for one in smaller)


def _implies(
    one: checked.ResourceTest, other: checked.ResourceTest, declared: DeclaredResources
) -> bool:
    if (one.verb, one.beside, one.surely) != (other.verb, other.beside, other.surely):
        return False
    if one.any_redirection != other.any_redirection:
        return False
    if one.operand is None or other.operand is None or one.form != other.form:
        return (one.form, one.operand) == (other.form, other.operand)
    if includes(other.operand, one.operand):
        return True
    small, large = (command_set(each, declared.profiles) for each in (one.operand, other.operand))
    return small is not None and large is not None and large.surely_holds_all_of(small)

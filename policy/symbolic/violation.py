"""The calls of one tool that break a claim, as a formula: the claim is met, and nothing restricts.

It follows `decision.judgement`, for one caller and one input. Both are enough: the verdict for a
chain of callers is the strictest of theirs, and a rewritten call gets the stricter verdict of the
call as asked and as rewritten. The safety floor, pins and a tool's confirmation only restrict, too;
of these, the ones that do not depend on the call count.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from policy.admission import input_fault
from policy.catalog import ToolSpec
from policy.checks import checked
from policy.evaluation import DeclaredResources
from policy.model import Reason, Verdict
from policy.program import LayerPlan, RulePlan
from policy.symbolic.reading import Reading, demands
from policy.symbolic.rewritten_input import left_alone
from policy.symbolic.truths import Truths, all_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """An invariant, and what its layer knows of the tool's resources."""

    invariant: checked.CheckedInvariant
    layer: checked.LayerKey
    declared: DeclaredResources

    @property
    def least(self) -> Verdict:
        """The least verdict that the claim promises."""
        return Verdict.DENY if self.invariant.claim == "always deny" else Verdict.ASK


@dataclass(frozen=True, slots=True, kw_only=True)
class Basis:
    """A rule, default or mechanism that can keep a claim; `place` is empty for a mechanism."""

    rule: str
    layer: str = ""
    place: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """That a call breaks a claim, as far as literals say it.

    Each literal of `bases` switches on one cause of a stricter verdict; assumed together, they are
    all that restricts. `clear` is the literal that no condition of the claim is indeterminate.
    """

    bases: Mapping[int, Basis]
    clear: int


def require_violation(
    claim: Claim,
    spec: ToolSpec,
    layers: Sequence[LayerPlan],
    reading: Reading,
    *,
    as_it_runs: bool = False,
) -> Violation:
    """Add to the reading's clauses that a call breaks the claim.

    `as_it_runs`: its input is the one that rewrites have left.
    """
    clauses = reading.clauses
    bases: dict[int, Basis] = {}

    def unless_left_out(basis: Basis, *literals: int) -> None:
        """Require one of the literals, as long as the basis is not left out."""
        switch = clauses.variable()
        bases[switch] = basis
        clauses.require(-switch, *literals)

    invariant = claim.invariant
    met = demands(invariant.when, invariant.unless, claim.declared, reading, grants=False)
    clauses.require(-met.fails)
    clauses.require(reading.applies(claim.layer))

    fixed = _of_the_tool(spec)
    if fixed is not None and fixed.verdict >= claim.least:
        unless_left_out(fixed.basis, clauses.false)
    unless_left_out(Basis(rule="identity"), reading.admitted())
    granting: list[int] = []
    delegated = layers[0].delegated_to if layers else ()
    for number, layer in enumerate(layers):
        applies = reading.applies(layer.key)
        allowed = clauses.any_of(_matches(plan, layer, reading).holds for plan in layer.allows)
        default = layer.default
        if default is not None and default.verdict >= claim.least:
            place = f"{default.file}:{default.line}"
            basis = Basis(rule="default", layer=layer.key.title, place=place)
            unless_left_out(basis, -applies, allowed)
        for plan in layer.restricting:
            if plan.verdict >= claim.least:
                unless_left_out(_basis(plan.reason), -applies, _matches(plan, layer, reading).fails)
        for rewrite in layer.rewrites if as_it_runs else ():
            for clause in left_alone(rewrite, layer, reading):
                unless_left_out(_basis(rewrite.reason), -applies, *clause)
        if number == 0 and layer.key.kind == "every":
            granting.append(allowed if default is None else clauses.true)
        elif layer.key in delegated:
            given = clauses.true if layer.named_default else allowed
            granting.append(clauses.all_of([applies, given]))
    unless_left_out(Basis(rule="none"), *granting)
    return Violation(bases=bases, clear=met.holds)


def _matches(plan: RulePlan, layer: LayerPlan, reading: Reading) -> Truths:
    rule = plan.rule
    found = demands(
        rule.when,
        rule.unless,
        layer.declared,
        reading,
        grants=plan.grants,
        covering=plan.covering,
    )
    if not plan.more:
        return found
    covered = reading.covered(plan, layer.declared)
    return all_of(reading.clauses, [found, Truths(covered, reading.clauses.false)])


def _basis(reason: Reason) -> Basis:
    return Basis(rule=reason.rule, layer=reason.layer or "", place=f"{reason.file}:{reason.line}")


@dataclass(frozen=True, slots=True)
class _Fixed:
    """What restricts every call of a tool, whatever the rules say."""

    verdict: Verdict
    basis: Basis


def _of_the_tool(spec: ToolSpec) -> _Fixed | None:
    if input_fault(spec) is not None:
        return _Fixed(Verdict.DENY, Basis(rule="schema"))
    if spec.needs_review:
        return _Fixed(spec.unreviewed, Basis(rule="pin"))
    if spec.requires_confirmation:
        return _Fixed(Verdict.ASK, Basis(rule="confirmation"))
    return None

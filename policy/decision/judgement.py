"""Judges one input once: the opinion of every layer for every caller of the chain, then the tool's.

The outcome is a list of reasons, the strictest of which is the verdict, and the changes that the
matching rewrites want. Evaluation never stops early: every matching rule is a reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from policy.catalog import ToolSpec
from policy.decision.identity import identity_reasons
from policy.evaluation import (
    Evaluation,
    FloorOf,
    FloorTruth,
    Indeterminate,
    ProtectedFile,
    Truth,
)
from policy.model import Caller, Facts, Reason, Verdict, strictest
from policy.program import (
    LayerPlan,
    Program,
    RedactionPlan,
    RewritePlan,
    RulePlan,
    ToolPlan,
    Wanted,
)

_NO_GRANT = Reason(rule="none", verdict=Verdict.DENY, message="no rule allows this")
_CONFIRMATION = Reason(
    rule="confirmation",
    verdict=Verdict.ASK,
    message="the tool itself asks for confirmation",
)
_PINS = {
    verdict: Reason(
        rule="pin", verdict=verdict, message="the tool's definition has not been reviewed"
    )
    for verdict in (Verdict.ASK, Verdict.DENY)
}
_FLOOR = "no tool may change the policy's own files"


@dataclass(slots=True)
class RuleJudgement:
    """The reasons found so far, those of shadow rules, and the changes that rewrites want.

    `redactions` are the `redact results` that match the call.
    """

    reasons: list[Reason] = field(default_factory=list)
    shadows: list[Reason] = field(default_factory=list)
    wanted: list[Wanted] = field(default_factory=list)
    rewrites: dict[str, Reason] = field(default_factory=dict)
    redactions: list[Reason] = field(default_factory=list)

    @property
    def verdict(self) -> Verdict:
        """The strictest of all opinions; without any, deny."""
        if len(self.reasons) == 1:
            return self.reasons[0].verdict
        return (
            strictest(reason.verdict for reason in self.reasons) if self.reasons else Verdict.DENY
        )


# The truth of a rule's condition for a call.
TruthOf: TypeAlias = Callable[[RulePlan | RewritePlan | RedactionPlan], Truth]


def judge(
    program: Program, spec: ToolSpec, input: Mapping[str, Any], *, caller: Caller, facts: Facts
) -> RuleJudgement:
    """Judge an admitted input for every caller of the chain; the strictest opinion counts.

    Every rule's closure is evaluated: this is the reference for generated code.
    """
    found = RuleJudgement()
    root = Evaluation(spec, input, caller=caller, facts=facts, slots=program.slots)
    for one in caller.chain():
        call = root if one is caller else root.for_caller(one)
        plan = program.plan(spec, agent=one.agent, role=one.role)

        def asked(rule: RulePlan | RewritePlan | RedactionPlan, call: Evaluation = call) -> Truth:
            return rule.matches(call)

        join_layers(found, plan, [asked] * len(plan.layers), call)
        found.reasons.extend(identity_reasons(one, spec, facts.now))
    caller_plan = program.plan(spec, agent=caller.agent, role=caller.role)
    floor = floor_of(caller_plan)
    join_tool(found, spec, floor=False if floor is None else floor(root))
    return found


def join_layers(
    found: RuleJudgement, plan: ToolPlan, truths: Sequence[TruthOf], call: Evaluation | None
) -> None:
    """Add the reasons of the layers for one caller, given the truth of each layer's rules.

    `call` is what wanted rewrites are computed with; None where no rewrite matches.
    """
    granted = False
    delegated = plan.layers[0].delegated_to if plan.layers else ()
    for place, (layer, truth) in enumerate(zip(plan.layers, truths, strict=True)):
        allowed = _give(found, layer, truth)
        if place == 0 and layer.key.kind == "every":
            granted = allowed or layer.default is not None
        elif layer.key in delegated and (allowed or layer.named_default):
            granted = True
        found.reasons.extend(_matching(layer.restricting, truth))
        _rewrite(found, layer, truth, call)
        _shadow(found, layer, truth)
        _redact(found, layer, truth)
    if not granted:
        found.reasons.append(_NO_GRANT)


def _give(found: RuleJudgement, layer: LayerPlan, truth: TruthOf) -> bool:
    """Add the layer's grant: its matching `allow` rules, or else the default that counts."""
    allowed = [rule.reason for rule in layer.allows if truth(rule) is True]
    if allowed:
        found.reasons.extend(allowed)
    elif layer.default is not None:
        found.reasons.append(layer.default)
    return bool(allowed)


def _matching(rules: tuple[RulePlan, ...], truth: TruthOf) -> Iterator[Reason]:
    """Yield the reasons of restricting rules that match; an indeterminate rule is a match."""
    for rule in rules:
        answer = truth(rule)
        if answer is True:
            yield rule.reason
        elif isinstance(answer, Indeterminate):
            yield indeterminate_reason(rule.reason, answer)


def indeterminate_reason(reason: Reason, truth: Indeterminate) -> Reason:
    """Return a rule's reason for a call on which its condition is indeterminate."""
    return replace(
        reason, clause=truth.text or reason.clause, undecided=truth.why, doubt=truth.about
    )


def _rewrite(
    found: RuleJudgement, layer: LayerPlan, truth: TruthOf, call: Evaluation | None
) -> None:
    for rewrite in layer.rewrites:
        answer = truth(rewrite)
        if answer is True:
            assert call is not None, "wanted changes are computed with a call"
            found.wanted.extend((wish, call) for wish in rewrite.wishes)
            found.rewrites[rewrite.reason.rule] = rewrite.reason
        elif isinstance(answer, Indeterminate):
            found.reasons.append(indeterminate_reason(rewrite.reason, answer))


def _shadow(found: RuleJudgement, layer: LayerPlan, truth: TruthOf) -> None:
    for rule in layer.shadows:
        answer = truth(rule)
        if answer is True:
            found.shadows.append(rule.reason)
        elif isinstance(answer, Indeterminate) and rule.verdict is not Verdict.ALLOW:
            found.shadows.append(indeterminate_reason(rule.reason, answer))


def _redact(found: RuleJudgement, layer: LayerPlan, truth: TruthOf) -> None:
    """Add the redactions of the result that match the call; an indeterminate one denies it."""
    for plan in layer.redactions:
        answer = truth(plan)
        if answer is True:
            found.redactions.append(plan.reason)
        elif isinstance(answer, Indeterminate):
            others = found.shadows if plan.reason.shadow else found.reasons
            others.append(indeterminate_reason(plan.reason, answer))


def _protected(file: ProtectedFile) -> Reason:
    """Return the reason for a call that writes a protected file, or may."""
    clause = f"writes {file.path}"
    if not file.of_agent:
        return Reason(rule="floor", verdict=Verdict.DENY, clause=clause, message=_FLOOR)
    if not file.why:
        message = f"no tool may change the agent's settings: {file.path}"
        return Reason(rule="floor", verdict=Verdict.DENY, clause=clause, message=message)
    message = f"this may change {file.path}, which decides what Placet is asked about"
    return Reason(
        rule="floor",
        verdict=Verdict.ASK,
        clause=clause,
        message=message,
        undecided=file.why,
        doubt="resources",
    )


def floor_of(plan: ToolPlan) -> FloorOf | None:
    """Return the test whether a call writes the policy itself, None where the tool cannot."""
    return plan.layers[0].floor if plan.layers else None


def join_tool(found: RuleJudgement, spec: ToolSpec, *, floor: FloorTruth) -> None:
    """Add what only restricts: the tool's own confirmation, its pin, and the floor."""
    if spec.requires_confirmation:
        found.reasons.append(_CONFIRMATION)
    if spec.needs_review:
        found.reasons.append(_PINS[spec.unreviewed])
    if floor is True:
        found.reasons.append(Reason(rule="floor", verdict=Verdict.DENY, message=_FLOOR))
    elif isinstance(floor, ProtectedFile):
        found.reasons.append(_protected(floor))
    elif isinstance(floor, Indeterminate):
        asking = Reason(rule="floor", verdict=Verdict.ASK, message=_FLOOR)
        found.reasons.append(indeterminate_reason(asking, floor))

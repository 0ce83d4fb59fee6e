"""One input judged once: every layer's opinion for every caller of the chain, and what comes after.

The outcome is a list of reasons, the strictest of which is the verdict, and the changes that the
matching rewrites want. Nothing here stops early: all matching rules are reasons.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from typing import Any

from policy.call import Caller
from policy.catalog import ToolSpec
from policy.decision.identity import identity_reasons
from policy.facts import Facts
from policy.program import Evaluation, LayerPlan, Program, RulePlan, ToolPlan, Undecided, Wanted
from policy.reason import Reason
from policy.records import dataclass
from policy.verdict import Verdict, strictest

_NO_GRANT = Reason(rule="none", verdict=Verdict.DENY, message="no rule allows this")
_CONFIRMATION = Reason(
    rule="confirmation",
    verdict=Verdict.ASK,
    message="the tool itself asks for confirmation",
)
_PIN = Reason(
    rule="pin", verdict=Verdict.ASK, message="the tool's definition has not been reviewed"
)
_FLOOR = "the policy's own files are out of reach of every tool"


@dataclass(slots=True)
class Judgement:
    """The reasons found so far, what shadow rules would have said, and the wanted changes."""

    reasons: list[Reason] = field(default_factory=list)
    shadows: list[Reason] = field(default_factory=list)
    wanted: list[Wanted] = field(default_factory=list)
    rewrites: dict[str, Reason] = field(default_factory=dict)

    @property
    def verdict(self) -> Verdict:
        """The strictest of all opinions; without any, deny."""
        if len(self.reasons) == 1:
            return self.reasons[0].verdict
        return (
            strictest(reason.verdict for reason in self.reasons) if self.reasons else Verdict.DENY
        )


def judge(
    program: Program, spec: ToolSpec, input: Mapping[str, Any], *, caller: Caller, facts: Facts
) -> Judgement:
    """Judge an admitted input by every caller of the chain; the strictest opinion stands."""
    found = Judgement()
    root = Evaluation(spec, input, caller=caller, facts=facts, slots=program.slots)
    for one in caller.chain():
        call = root if one is caller else root.for_caller(one)
        plan = program.plan(spec, agent=one.agent, role=one.role)
        _judge_layers(found, plan, call)
        found.reasons.extend(identity_reasons(one, spec.names, facts.now))
    _judge_tool(found, program, root)
    return found


def _judge_layers(found: Judgement, plan: ToolPlan, call: Evaluation) -> None:
    granted = False
    delegated = plan.layers[0].delegated_to if plan.layers else ()
    for place, layer in enumerate(plan.layers):
        allowed = _give(found, layer, call)
        if place == 0 and layer.key.kind == "every":
            granted = allowed or layer.default is not None
        elif layer.key in delegated and (allowed or layer.named_default):
            granted = True
        _take(found, layer, call)
        _rewrite(found, layer, call)
        _shadow(found, layer, call)
    if not granted:
        found.reasons.append(_NO_GRANT)


def _give(found: Judgement, layer: LayerPlan, call: Evaluation) -> bool:
    """Add the layer's grant: its matching allows, or else the default that counts."""
    allowed = [rule.reason for rule in layer.allows if rule.met(call) is True]
    if allowed:
        found.reasons.extend(allowed)
    elif layer.default is not None:
        found.reasons.append(layer.default)
    return bool(allowed)


def _take(found: Judgement, layer: LayerPlan, call: Evaluation) -> None:
    found.reasons.extend(_met(layer.takes, call))


def _met(rules: tuple[RulePlan, ...], call: Evaluation) -> Iterator[Reason]:
    """Yield the reasons of rules that take and are met; what is undecidable counts as met."""
    for rule in rules:
        truth = rule.met(call)
        if truth is True:
            yield rule.reason
        elif isinstance(truth, Undecided):
            yield undecided_reason(rule.reason, truth)


def undecided_reason(reason: Reason, truth: Undecided) -> Reason:
    """Return a rule's reason for a call on which it could not be decided."""
    return replace(reason, clause=truth.text or reason.clause, undecided=truth.why)


def _rewrite(found: Judgement, layer: LayerPlan, call: Evaluation) -> None:
    for rewrite in layer.rewrites:
        truth = rewrite.met(call)
        if truth is True:
            found.wanted.extend((wish, call) for wish in rewrite.wishes)
            found.rewrites[rewrite.reason.rule] = rewrite.reason
        elif isinstance(truth, Undecided):
            found.reasons.append(undecided_reason(rewrite.reason, truth))


def _shadow(found: Judgement, layer: LayerPlan, call: Evaluation) -> None:
    for rule in layer.shadows:
        truth = rule.met(call)
        if truth is True:
            found.shadows.append(rule.reason)
        elif isinstance(truth, Undecided) and rule.verdict is not Verdict.ALLOW:
            found.shadows.append(undecided_reason(rule.reason, truth))


def _judge_tool(found: Judgement, program: Program, call: Evaluation) -> None:
    """Add what only takes: the tool's own word, its pin, and the floor."""
    spec = call.spec
    if spec.requires_confirmation:
        found.reasons.append(_CONFIRMATION)
    if spec.origin.kind != "host" and not spec.pinned:
        found.reasons.append(_PIN)
    caller = call.caller
    layers = program.plan(spec, agent=caller.agent, role=caller.role).layers
    if layers and layers[0].floor is not None:
        truth = layers[0].floor(call)
        if truth is True:
            found.reasons.append(Reason(rule="floor", verdict=Verdict.DENY, message=_FLOOR))
        elif isinstance(truth, Undecided):
            asking = Reason(rule="floor", verdict=Verdict.ASK, message=_FLOOR)
            found.reasons.append(undecided_reason(asking, truth))

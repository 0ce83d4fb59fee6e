"""Which redactions apply to what a tool has returned."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from policy.catalog import SchemaView, ToolSpec
from policy.evaluation import Evaluation, Indeterminate, Truth, read_output
from policy.model import Caller, Decision, Facts, Reason, freeze
from policy.program import Program, RedactionPlan, ResultWithheld
from policy.values import Redaction


class NoResult:
    """Stands for a call that has no result: one that failed, or has not ended."""


NO_RESULT: Final = NoResult()


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultRules:
    """The redactions of one result, and those that shadow rules would make."""

    redactions: tuple[Redaction, ...] = ()
    shadowed: tuple[Redaction, ...] = ()


def result_rules(
    program: Program, decision: Decision, *, caller: Caller, facts: Facts, result: Any = NO_RESULT
) -> ResultRules:
    """Return the redactions of a result; the decision says which match the call.

    Those with conditions on the result apply where these hold for some caller of the chain, on the
    call as asked or as rewritten; all of them do without a result, since nothing can be asked of
    it. Raises ResultWithheld if they are indeterminate.
    """
    matching = set(decision.redactions)
    spec = program.catalog.get(decision.call.tool)
    if not matching:
        return ResultRules()
    if spec is None:
        raise ResultWithheld("the policy does not have the tool", rule=matching.pop().rule)
    declared = program.catalog.views.of(spec.output) if spec.output else None
    found: dict[Reason, RedactionPlan] = {}
    missing = {reason for reason in matching if not reason.shadow}
    for plan, calls in _plans(program, spec, decision, caller=caller, facts=facts):
        if plan.reason not in matching or plan.reason in found:
            continue
        missing.discard(plan.reason)
        truth = _on_result(plan, calls, result, declared)
        if truth is True:
            found[plan.reason] = plan
        elif isinstance(truth, Indeterminate) and not plan.reason.shadow:
            why = f"`{truth.text or plan.rule.text}` is indeterminate"
            raise ResultWithheld(why, rule=plan.rule.id, detail=truth.why)
    if missing:
        raise ResultWithheld("the policy does not have the rule", rule=missing.pop().rule)
    return ResultRules(
        redactions=tuple(p.redaction for p in found.values() if not p.reason.shadow),
        shadowed=tuple(p.redaction for p in found.values() if p.reason.shadow),
    )


def _plans(
    program: Program, spec: ToolSpec, decision: Decision, *, caller: Caller, facts: Facts
) -> Iterator[tuple[RedactionPlan, list[Evaluation]]]:
    """Yield the tool's redactions for every caller, with the calls to ask their conditions of."""
    inputs = [decision.call.input]
    if decision.rewritten:
        inputs.append(decision.asked.input)
    for one in caller.chain():
        plan = program.plan(spec, agent=one.agent, role=one.role)
        for layer in plan.layers:
            if not layer.redactions:
                continue
            calls = [
                Evaluation(spec, input, caller=one, facts=facts, slots=program.slots)
                for input in inputs
            ]
            yield from ((redaction, calls) for redaction in layer.redactions)


def _on_result(
    plan: RedactionPlan, calls: list[Evaluation], result: Any, declared: SchemaView | None
) -> Truth:
    """Return whether a redaction that matches the call applies to its result."""
    if plan.on_result is None or result is NO_RESULT:
        return True
    indeterminate: Indeterminate | None = None
    for call in calls:
        try:
            call.result = freeze(result)
            if declared is not None:
                call.result = read_output(call.result, declared, tool=call.spec.name)
        except (RecursionError, TypeError, ValueError):
            return Indeterminate("the result is not JSON")
        truth = plan.on_result(call)
        if truth is True:
            return True
        if isinstance(truth, Indeterminate):
            indeterminate = indeterminate or truth
    return False if indeterminate is None else indeterminate

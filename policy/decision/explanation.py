"""Explains decisions: every rule on the tool, whether it matched, and the outcome of each clause.

For people, never for the agent: an explanation of what would be allowed helps a hijacked model.
"""

from __future__ import annotations

from dataclasses import dataclass

from policy.decision.needed import needed_for
from policy.decision.resources import ResourceUse, resource_uses
from policy.decision.rule_outcome import LayerOutcome, evaluation_of, layer_outcomes
from policy.model import Caller, Decision, Facts, ToolCall
from policy.program import Program


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """The explanation of one decision. `needed` lists what would have to change for an allow."""

    decision: Decision
    layers: tuple[LayerOutcome, ...]
    resources: tuple[ResourceUse, ...]
    needed: tuple[str, ...]


def explain(
    program: Program,
    decision: Decision,
    *,
    caller: Caller,
    facts: Facts,
    parts: bool = True,
) -> Explanation:
    """Explain a decision on an admitted call; for a refused call there are no layers to list.

    Without `parts`, clauses are not divided: nothing is evaluated but what the decision evaluates.
    """
    layers = layer_outcomes(program, decision.asked, caller=caller, facts=facts, parts=parts)
    return Explanation(
        decision=decision,
        layers=layers,
        resources=_resources(program, decision.call, caller=caller, facts=facts),
        needed=needed_for(decision, layers),
    )


def _resources(
    program: Program, call: ToolCall, *, caller: Caller, facts: Facts
) -> tuple[ResourceUse, ...]:
    """Return what the call does, in canonical form, and where that comes from."""
    root = evaluation_of(program, call, caller=caller, facts=facts)
    if root is None:
        return ()
    plan = program.plan(root.spec, agent=caller.agent, role=caller.role)
    if not plan.layers:
        return ()
    return tuple(resource_uses(root.effects(plan.layers[0].declared)))

"""Decides admitted calls by evaluating every rule's closure; applies rewrites."""

from __future__ import annotations

from policy.decision.judgement import RuleJudgement, judge
from policy.decision.ordering import in_order
from policy.decision.rewrites import apply_rewrites
from policy.model import Caller, Decision, Facts, GenerationId, Reason, ToolCall, Verdict, decided
from policy.program import Program


def decide_interpreted(
    program: Program,
    call: ToolCall,
    caller: Caller,
    facts: Facts,
    found: RuleJudgement | None,
    *,
    generation: GenerationId | None,
    repairs: tuple[str, ...] = (),
) -> Decision:
    """Decide a call of a tool known by its full name; `found` is the judgement of its rules."""
    spec = program.catalog.get(call.tool)
    if spec is None:
        return unknown_tool(call, generation)
    if found is None:
        found = judge(program, spec, call.input, caller=caller, facts=facts)
    final = call
    if found.wanted:
        final, found = apply_rewrites(program, spec, call, first=found, caller=caller, facts=facts)
    verdict = found.verdict
    return Decision(
        verdict=verdict,
        call=final,
        asked=call,
        reasons=in_order(found.reasons, verdict),
        generation=generation,
        shadowed=tuple(dict.fromkeys(found.shadows)),
        repairs=repairs,
        redactions=tuple(dict.fromkeys(found.redactions)),
    )


def unknown_tool(call: ToolCall, generation: GenerationId | None) -> Decision:
    """Deny a call of a tool that the catalogue does not have."""
    reason = Reason(rule="schema", verdict=Verdict.DENY, message="no tool has this name")
    return decided(Verdict.DENY, call, (reason,), generation=generation)

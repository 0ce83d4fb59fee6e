"""Applies rewrites: changes the call, admits and judges it again, and keeps the stricter outcome.

A rewrite never turns a deny into an allow: the reasons of both judgements count.
"""

from __future__ import annotations

from dataclasses import replace

from policy.admission import Admitted, admit
from policy.catalog import ToolSpec
from policy.decision.compiled_judgement import judge_compiled
from policy.decision.judgement import RuleJudgement, judge
from policy.model import Caller, Facts, Reason, ToolCall, Verdict
from policy.program import Conflict, Program, apply_changes

_UNSTABLE = "applying the rewrites again would change the input once more"


def apply_rewrites(
    program: Program,
    spec: ToolSpec,
    call: ToolCall,
    *,
    first: RuleJudgement,
    caller: Caller,
    facts: Facts,
) -> tuple[ToolCall, RuleJudgement]:
    """Return the call with all wanted changes, and both judgements joined."""
    changed = apply_changes(call.input, first.wanted)
    if isinstance(changed, Conflict):
        return call, _denied(first, first, changed.why, rules=changed.rules)
    rewritten = ToolCall(tool=call.tool, input=changed)
    if rewritten.input == call.input:
        return call, first
    admitted = admit(
        rewritten,
        program.catalog,
        open_fields=program.open_fields,
    )
    if not isinstance(admitted, Admitted):
        return call, _refused(first, f"the rewritten input is refused: {admitted.message}")
    if admitted.call.input != rewritten.input:
        return call, _refused(first, "the rewritten input is not what the tool would receive")
    second = judge_compiled(program, rewritten, caller=caller, facts=facts) or judge(
        program, spec, rewritten.input, caller=caller, facts=facts
    )
    joined = _joined(first, second)
    again = apply_changes(rewritten.input, second.wanted)
    if isinstance(again, Conflict):
        return rewritten, _denied(joined, second, again.why, rules=again.rules)
    if ToolCall(tool=call.tool, input=again).input != rewritten.input:
        return rewritten, _denied(joined, second, _UNSTABLE, rules=tuple(second.rewrites))
    return rewritten, joined


def _joined(first: RuleJudgement, second: RuleJudgement) -> RuleJudgement:
    return RuleJudgement(
        reasons=[*first.reasons, *second.reasons],
        shadows=[*first.shadows, *second.shadows],
        rewrites={**first.rewrites, **second.rewrites},
        redactions=[*first.redactions, *second.redactions],
    )


def _denied(
    base: RuleJudgement, source: RuleJudgement, why: str, *, rules: tuple[str, ...]
) -> RuleJudgement:
    """Add a deny for every rule that wants an impossible change; each names the others."""
    names = " and ".join(rules)
    added = [
        replace(source.rewrites[rule], message=f"{why} ({names})")
        for rule in rules
        if rule in source.rewrites
    ]
    return _with(base, added)


def _refused(base: RuleJudgement, why: str) -> RuleJudgement:
    return _with(base, [Reason(rule="schema", verdict=Verdict.DENY, message=why)])


def _with(base: RuleJudgement, denials: list[Reason]) -> RuleJudgement:
    return RuleJudgement(
        reasons=[*base.reasons, *denials],
        shadows=base.shadows,
        rewrites=base.rewrites,
        redactions=base.redactions,
    )

"""Decides admitted calls with generated code, or with closures where the code does not apply.

The generated code reports which rules match a call. What follows from a set of matching rules (the
verdict, the reasons in order) is the same for every call they match, so it is computed once per set
and cached by tool and layers: nothing about a call, its caller or the facts is cached. Guests, and
values that the code does not expect, are decided by the closures.
"""

from __future__ import annotations

from typing import Final

from policy.codegen import IndeterminateRules
from policy.decision.compiled_judgement import ask_layers, judged, plan_for
from policy.decision.compiled_plan import CompiledPlan, RuleAnswers, RuleSetOutcome
from policy.decision.interpreted import decide_interpreted
from policy.decision.judgement import RuleJudgement, join_tool
from policy.decision.ordering import in_order
from policy.evaluation import Evaluation, Indeterminate
from policy.model import Caller, Decision, Facts, GenerationId, ToolCall
from policy.program import Program

# A tool with many rules has many sets of them; sets beyond this number are computed each time.
_MOST_SETS: Final = 1024


def decide_compiled(
    program: Program,
    call: ToolCall,
    caller: Caller,
    facts: Facts,
    generation: GenerationId | None,
    repairs: tuple[str, ...] = (),
) -> Decision:
    """Decide a call that the program's catalogue admitted, by its tool's full name."""
    found: RuleSetOutcome | RuleJudgement | None
    # As `plan_for` does, without another call.
    known_as = (caller.agent, caller.role) if program.by_agent else caller.role
    try:
        plan: CompiledPlan | None = program.quick[known_as][call.tool]
    except KeyError:
        plan = plan_for(program, call, caller)
    if plan is None:
        found = None
    elif plan.only is None or caller.parent is not None:
        found = _beside_others(program, plan, call, caller, facts)
    else:
        matching = plan.only(call, caller, facts)
        try:
            found = plan.outcomes[matching]
        except KeyError:
            # An answer that is not a tuple is no set of rules and is not cached.
            found = _new(plan, matching)
    if not isinstance(found, RuleSetOutcome):
        return decide_interpreted(
            program, call, caller, facts, found, generation=generation, repairs=repairs
        )
    return Decision(
        verdict=found.verdict,
        call=call,
        asked=call,
        reasons=found.reasons,
        generation=generation,
        shadowed=found.shadowed,
        repairs=repairs,
        redactions=found.redactions,
    )


def _new(
    plan: CompiledPlan, matching: tuple[int, ...] | IndeterminateRules | None
) -> RuleSetOutcome | None:
    """Return the outcome of a new set of matching rules, where only one layer counts."""
    if isinstance(matching, IndeterminateRules):
        return _of_one(plan, (matching.matching,), (matching.indeterminate,))
    return None if matching is None else _kept(plan, matching, _of_one(plan, (matching,), ((),)))


def _of_one(
    plan: CompiledPlan,
    matching: tuple[tuple[int, ...]],
    indeterminate: tuple[tuple[tuple[int, Indeterminate], ...]],
) -> RuleSetOutcome:
    """Return the outcome where only one layer counts and no rewrite matches."""
    found = RuleJudgement()
    plan.join(found, RuleAnswers(matching, indeterminate), None)
    join_tool(found, plan.spec, floor=False)
    return _outcome(found)


def _beside_others(
    program: Program, plan: CompiledPlan, call: ToolCall, caller: Caller, facts: Facts
) -> RuleSetOutcome | RuleJudgement | None:
    """Return the outcome where more than one layer counts: the floor, or several layers."""
    shared: Evaluation | None = None
    if plan.but_floor is not None and caller.parent is None:
        shared = Evaluation(plan.spec, call.input, caller=caller, facts=facts, slots=program.slots)
        if plan.floor is not None and plan.floor(shared) is False:
            matching = plan.but_floor(call, caller, facts, shared)
            return plan.outcomes.get(matching) or _new(plan, matching)
    return _of_several(program, plan, call, caller, facts, shared)


def _of_several(
    program: Program,
    plan: CompiledPlan,
    call: ToolCall,
    caller: Caller,
    facts: Facts,
    root: Evaluation | None,
) -> RuleSetOutcome | RuleJudgement | None:
    """Return the outcome where several layers, several callers or the floor count.

    `root` is the evaluation of the call for this caller, if there is one already.
    """
    asked = ask_layers(program, plan, call, caller, facts, root)
    if asked is None:
        return None
    key = asked.key()
    known = None if key is None else plan.outcomes.get(key)
    if known is not None:
        return known
    found = judged(asked)
    if found.wanted:
        return found
    outcome = _outcome(found)
    return outcome if key is None else _kept(plan, key, outcome)


def _outcome(found: RuleJudgement) -> RuleSetOutcome:
    verdict = found.verdict
    shadowed = tuple(dict.fromkeys(found.shadows))
    redactions = tuple(dict.fromkeys(found.redactions))
    return RuleSetOutcome(verdict, in_order(found.reasons, verdict), shadowed, redactions)


def _kept(plan: CompiledPlan, key: object, outcome: RuleSetOutcome) -> RuleSetOutcome:
    """Cache the outcome of a set of matching rules, as long as there is room."""
    if len(plan.outcomes) < _MOST_SETS:
        plan.outcomes[key] = outcome
    return outcome

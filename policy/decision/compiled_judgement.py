"""Judges a call with generated code, for every caller of the chain and for the floor.

Returns None for guests, and for values that the code does not expect: the closures judge those.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from policy.codegen import is_plain_text
from policy.decision.compiled_plan import CompiledPlan, RuleAnswers
from policy.decision.identity import is_bounded
from policy.decision.judgement import RuleJudgement, join_tool
from policy.evaluation import Evaluation, FloorTruth
from policy.model import Caller, Facts, ToolCall
from policy.program import Program

# Agents' names come from models, so the number of cached callers is bounded.
_MOST_CALLERS: Final = 4096


def judge_compiled(
    program: Program, call: ToolCall, *, caller: Caller, facts: Facts
) -> RuleJudgement | None:
    """Judge an input once by generated code; None where every closure must be asked."""
    plan = plan_for(program, call, caller)
    if plan is None:
        return None
    asked = ask_layers(program, plan, call, caller, facts, None)
    return None if asked is None else judged(asked)


@dataclass(frozen=True, slots=True)
class CallerAnswers:
    """What the layers of every caller of a chain, and the floor, returned for one call."""

    callers: tuple[tuple[CompiledPlan, RuleAnswers, Evaluation], ...]
    floor: FloorTruth

    def key(self) -> object:
        """Return the key to cache the outcome under, None where a rule was indeterminate."""
        if self.floor is not False or not all(asked.settled for _, asked, _ in self.callers):
            return None
        # Includes the callers' plans: another chain may match rules with the same numbers.
        return tuple((plan, asked.matching) for plan, asked, _ in self.callers)


def ask_layers(
    program: Program,
    plan: CompiledPlan,
    call: ToolCall,
    caller: Caller,
    facts: Facts,
    root: Evaluation | None,
) -> CallerAnswers | None:
    """Ask the layers of every caller of the chain, and the floor; None where code does not apply.

    `root` is the evaluation of the call for this caller, if there is one already.
    """
    # Shared, so that the call's effects are read only once.
    if root is None:
        root = Evaluation(plan.spec, call.input, caller=caller, facts=facts, slots=program.slots)
    callers: list[tuple[CompiledPlan, RuleAnswers, Evaluation]] = []
    for one in caller.chain():
        theirs = plan if one is caller else plan_for(program, call, one)
        if theirs is None:
            return None
        shared = root if one is caller else root.for_caller(one)
        asked = theirs.ask(call, one, facts, shared)
        if asked is None:
            return None
        callers.append((theirs, asked, shared))
    floor = False if plan.floor is None else plan.floor(root)
    return CallerAnswers(tuple(callers), floor)


def judged(chain: CallerAnswers) -> RuleJudgement:
    """Return the reasons and wanted changes that follow from the answers of the layers."""
    found = RuleJudgement()
    for plan, asked, shared in chain.callers:
        plan.join(found, asked, shared)
    join_tool(found, chain.callers[0][0].spec, floor=chain.floor)
    return found


def plan_for(program: Program, call: ToolCall, caller: Caller) -> CompiledPlan | None:
    """Return the plan of a tool for a caller, made on first use; None for callers without one."""
    known_as = _known_as(program, caller)
    plans = program.quick.get(known_as)
    if plans is None:
        if not program.shortcuts.generated or not _is_plain(caller):
            return None
        layers = program.layers_of(caller.agent, caller.role)
        plans = program.quick_by_layers.setdefault(layers, {})
        if len(program.quick) >= _MOST_CALLERS:
            program.quick.clear()
        program.quick[known_as] = plans
    found: CompiledPlan | None = plans.get(call.tool)
    if found is not None:
        return found
    spec = program.catalog.get(call.tool)
    if spec is None or spec.name != call.tool:
        return None
    plan = program.plan(spec, agent=caller.agent, role=caller.role)
    if not plan.layers or any(layer.ask is None for layer in plan.layers):
        return None
    made = plans[call.tool] = CompiledPlan(spec, plan)
    return made


def _known_as(program: Program, caller: Caller) -> str | tuple[str, str]:
    """Return everything about a caller that decides which layers apply to it."""
    return (caller.agent, caller.role) if program.by_agent else caller.role


def _is_plain(caller: Caller) -> bool:
    """Return whether only the layers count for a caller, and its role compares as it is written."""
    return not is_bounded(caller) and is_plain_text(caller.role)

"""An admitted call in, its decision out: by generated code, or where that will not do, at length.

The code says which rules a call meets. What follows from a set of rules that are met (the verdict,
the reasons in order) is the same for every call that meets them, so it is worked out once a set and
kept by tool and layers: nothing about a call, its caller or the world is remembered. Guests, and
values that the code does not expect, go the long way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from policy.call import Caller, ToolCall
from policy.decision.decider import decide_at_length
from policy.decision.decision import Decision, GenerationId
from policy.decision.identity import is_bounded
from policy.decision.judgement import Judgement, join_tool
from policy.decision.ordering import in_order
from policy.decision.quick_plan import Asked, Outcome, QuickPlan
from policy.facts import Facts
from policy.program import Evaluation, Program, Truth, Undecided, Unsettled, is_plain_text

# A tool with many rules has many sets of them; sets beyond these are worked out each time.
_MOST_SETS: Final = 1024
# Agents' names come from models: what is remembered of callers is bounded.
_MOST_CALLERS: Final = 4096


def decide_quickly(
    program: Program,
    call: ToolCall,
    caller: Caller,
    facts: Facts,
    generation: GenerationId | None,
    repairs: tuple[str, ...] = (),
) -> Decision:
    """Decide a call that the program's catalogue admitted, by its tool's full name."""
    found: Outcome | Judgement | None
    # As `_known_as` does, without another call.
    known_as = (caller.agent, caller.role) if program.by_agent else caller.role
    try:
        plan: QuickPlan | None = program.quick[known_as][call.tool]
    except KeyError:
        plan = _plan_for(program, call, caller)
    if plan is None:
        found = None
    elif plan.only is None or caller.parent is not None:
        found = _beside_others(program, plan, call, caller, facts)
    else:
        met = plan.only(call, caller, facts)
        try:
            found = plan.outcomes[met]
        except KeyError:
            # What is no tuple stands for no set of rules, and is kept under nothing.
            found = _new(plan, met)
    if not isinstance(found, Outcome):
        return decide_at_length(
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
    )


def judge_quickly(
    program: Program, call: ToolCall, *, caller: Caller, facts: Facts
) -> Judgement | None:
    """Judge an input once by generated code; None where every closure must be asked."""
    plan = _plan_for(program, call, caller)
    if plan is None:
        return None
    asked = _asked(program, plan, call, caller, facts, None)
    return None if asked is None else _judged(asked)


def _new(plan: QuickPlan, met: tuple[int, ...] | Unsettled | None) -> Outcome | None:
    """Return what follows where one layer alone has a say, from rules first met together."""
    if isinstance(met, Unsettled):
        return _of_one(plan, (met.met,), (met.undecided,))
    return None if met is None else _kept(plan, met, _of_one(plan, (met,), ((),)))


def _of_one(
    plan: QuickPlan,
    met: tuple[tuple[int, ...]],
    undecided: tuple[tuple[tuple[int, Undecided], ...]],
) -> Outcome:
    """Return what follows where one layer alone has a say, and wants no rewrite."""
    found = Judgement()
    plan.join(found, Asked(met, undecided), None)
    join_tool(found, plan.spec, floor=False)
    return _outcome(found)


def _beside_others(
    program: Program, plan: QuickPlan, call: ToolCall, caller: Caller, facts: Facts
) -> Outcome | Judgement | None:
    """Return what follows where others than one layer have a say: the floor, if nobody else."""
    shared: Evaluation | None = None
    if plan.but_floor is not None and caller.parent is None:
        shared = Evaluation(plan.spec, call.input, caller=caller, facts=facts, slots=program.slots)
        if plan.floor is not None and plan.floor(shared) is False:
            met = plan.but_floor(call, caller, facts, shared)
            return plan.outcomes.get(met) or _new(plan, met)
    return _of_several(program, plan, call, caller, facts, shared)


def _of_several(
    program: Program,
    plan: QuickPlan,
    call: ToolCall,
    caller: Caller,
    facts: Facts,
    root: Evaluation | None,
) -> Outcome | Judgement | None:
    """Return what follows where several layers, several callers or the floor have a say.

    `root` is the call as this caller's, if it was looked at before.
    """
    asked = _asked(program, plan, call, caller, facts, root)
    if asked is None:
        return None
    key = asked.key()
    known = None if key is None else plan.outcomes.get(key)
    if known is not None:
        return known
    found = _judged(asked)
    if found.wanted:
        return found
    outcome = _outcome(found)
    return outcome if key is None else _kept(plan, key, outcome)


@dataclass(frozen=True, slots=True)
class _Chain:
    """What the layers of every caller of a chain, and the floor, came to on one call."""

    callers: tuple[tuple[QuickPlan, Asked, Evaluation], ...]
    floor: Truth

    def key(self) -> object:
        """Return what the outcome can be kept under, None where something was undecided."""
        if self.floor is not False or not all(asked.settled for _, asked, _ in self.callers):
            return None
        # By the callers' plans too: another chain may meet rules of the same numbers.
        return tuple((plan, asked.met) for plan, asked, _ in self.callers)


def _asked(
    program: Program,
    plan: QuickPlan,
    call: ToolCall,
    caller: Caller,
    facts: Facts,
    root: Evaluation | None,
) -> _Chain | None:
    # Shared, so that what a call does is read once for all of them.
    if root is None:
        root = Evaluation(plan.spec, call.input, caller=caller, facts=facts, slots=program.slots)
    callers: list[tuple[QuickPlan, Asked, Evaluation]] = []
    for one in caller.chain():
        theirs = plan if one is caller else _plan_for(program, call, one)
        if theirs is None:
            return None
        shared = root if one is caller else root.for_caller(one)
        asked = theirs.ask(call, one, facts, shared)
        if asked is None:
            return None
        callers.append((theirs, asked, shared))
    floor = False if plan.floor is None else plan.floor(root)
    return _Chain(tuple(callers), floor)


def _judged(chain: _Chain) -> Judgement:
    found = Judgement()
    for plan, asked, shared in chain.callers:
        plan.join(found, asked, shared)
    join_tool(found, chain.callers[0][0].spec, floor=chain.floor)
    return found


def _outcome(found: Judgement) -> Outcome:
    verdict = found.verdict
    shadowed = tuple(dict.fromkeys(found.shadows))
    return Outcome(verdict, in_order(found.reasons, verdict), shadowed)


def _kept(plan: QuickPlan, key: object, outcome: Outcome) -> Outcome:
    """Keep what follows from rules that are met, as long as there is room."""
    if len(plan.outcomes) < _MOST_SETS:
        plan.outcomes[key] = outcome
    return outcome


def _plan_for(program: Program, call: ToolCall, caller: Caller) -> QuickPlan | None:
    """Return the plan of a tool for a caller, made if need be; None for who goes the long way."""
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
    found: QuickPlan | None = plans.get(call.tool)
    if found is not None:
        return found
    spec = program.catalog.get(call.tool)
    if spec is None or spec.name != call.tool:
        return None
    plan = program.plan(spec, agent=caller.agent, role=caller.role)
    if not plan.layers or any(layer.ask is None for layer in plan.layers):
        return None
    made = plans[call.tool] = QuickPlan(spec, plan)
    return made


def _known_as(program: Program, caller: Caller) -> str | tuple[str, str]:
    """Return all of a caller that decides which layers bind it."""
    return (caller.agent, caller.role) if program.by_agent else caller.role


def _is_plain(caller: Caller) -> bool:
    """Tell whether only the layers have a say on a caller, whose role compares as it stands."""
    return not is_bounded(caller) and is_plain_text(caller.role)

"""An admitted call in, its decision out, by generated code; None where all must be asked.

The code says which rules a call meets. What follows from a set of rules that are met (the verdict,
the reasons in order) is the same for every call that meets them, so it is worked out once a set and
kept by tool and layers: nothing about a call, its caller or the world is remembered. Sub-agents,
guests, wanted rewrites and values that the code does not expect go the long way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

from policy.call import Caller, ToolCall
from policy.catalog import ToolSpec
from policy.decision.decision import Decision, DecisionDraft, GenerationId
from policy.decision.identity import is_bounded
from policy.decision.judgement import Judgement, TruthOf, floor_of, join_layers, join_tool
from policy.decision.ordering import in_order
from policy.facts import Facts
from policy.program import (
    Evaluation,
    Program,
    RewritePlan,
    RulePlan,
    ToolPlan,
    Truth,
    Undecided,
    Unsettled,
    is_plain_text,
)
from policy.reason import Reason
from policy.verdict import Verdict

# Agents' names come from models: what is remembered of callers is bounded.
_MOST_CALLERS: Final = 4096
# A tool with many rules has many sets of them; sets beyond these are worked out each time.
_MOST_SETS: Final = 1024

Numbers: TypeAlias = tuple[int, ...]


class Outcome:
    """What follows from a set of rules that are met. Read-only by use: it is made for each set."""

    __slots__ = ("reasons", "shadowed", "verdict")

    def __init__(
        self, verdict: Verdict, reasons: tuple[Reason, ...], shadowed: tuple[Reason, ...]
    ) -> None:
        self.verdict = verdict
        self.reasons = reasons
        self.shadowed = shadowed


class QuickPlan:
    """The rules on one tool for callers bound by the same layers, ready to be asked.

    `only` is the one layer's function where nothing besides it is to be asked.
    """

    __slots__ = (
        "asks",
        "floor",
        "needs_evaluation",
        "only",
        "outcomes",
        "plan",
        "rewrites",
        "spec",
    )

    def __init__(self, spec: ToolSpec, plan: ToolPlan) -> None:
        self.spec = spec
        self.plan = plan
        self.asks = tuple(layer.ask for layer in plan.layers)
        self.floor = floor_of(plan)
        alone = len(self.asks) == 1 and self.floor is None
        self.only = self.asks[0] if alone else None
        self.outcomes: dict[Any, Outcome] = {}

    def kept(self, met: Any, numbers: Sequence[Numbers]) -> Outcome | None:
        """Return what follows from rules that are met, kept under `met`."""
        outcome = self.outcome(numbers, [()] * len(numbers), floor=False)
        if outcome is not None and len(self.outcomes) < _MOST_SETS:
            self.outcomes[met] = outcome
        return outcome

    def outcome(
        self,
        met: Sequence[Numbers],
        undecided: Sequence[tuple[tuple[int, Undecided], ...]],
        *,
        floor: Truth,
    ) -> Outcome | None:
        """Return what follows from what the rules came to; None where a rewrite is wanted."""
        found = Judgement()
        truths: list[TruthOf] = []
        for layer, hits, open_ in zip(self.plan.layers, met, undecided, strict=True):
            rules = layer.rules
            said: dict[int, Truth] = {id(rules[number]): True for number in hits}
            said.update((id(rules[number]), why) for number, why in open_)
            if any(said.get(id(rewrite)) is True for rewrite in layer.rewrites):
                return None
            truths.append(_looked_up(said))
        join_layers(found, self.plan, truths, None)
        join_tool(found, self.spec, floor=floor)
        verdict = found.verdict
        return Outcome(
            verdict, in_order(found.reasons, verdict), tuple(dict.fromkeys(found.shadows))
        )


def _looked_up(said: Mapping[int, Truth]) -> TruthOf:
    def truth(rule: RulePlan | RewritePlan) -> Truth:
        return said.get(id(rule), False)

    return truth


def decide_quickly(
    program: Program,
    call: ToolCall,
    caller: Caller,
    facts: Facts,
    generation: GenerationId | None,
    repairs: tuple[str, ...] = (),
) -> Decision | None:
    """Decide a call that the program's catalogue admitted, by its tool's full name."""
    if caller.parent is not None:
        return None
    plans = program.quick.get((caller.agent, caller.role))
    if plans is None:
        plans = _plans_for(program, caller)
        if plans is None:
            return None
    plan: QuickPlan | None = plans.get(call.tool)
    if plan is None:
        plan = _plan_for(program, call, caller, plans)
        if plan is None:
            return None
    ask = plan.only
    if ask is not None:
        met = ask(call.input, caller, facts)
        if type(met) is tuple:
            outcome = plan.outcomes.get(met) or plan.kept(met, (met,))
        elif isinstance(met, Unsettled):
            outcome = plan.outcome((met.met,), (met.undecided,), floor=False)
        else:
            return None
    else:
        outcome = _of_layers(program, plan, call, caller, facts)
    if outcome is None:
        return None
    draft = DecisionDraft(
        outcome.verdict, call, outcome.reasons, generation, outcome.shadowed, repairs
    )
    draft.__class__ = Decision  # type: ignore[assignment]
    return draft  # type: ignore[return-value]


def _of_layers(
    program: Program, plan: QuickPlan, call: ToolCall, caller: Caller, facts: Facts
) -> Outcome | None:
    """Return the outcome of a call where several layers, or the floor, have a say."""
    # Shared, so that what a call does is read once for all layers.
    shared = Evaluation(plan.spec, call.input, caller=caller, facts=facts, slots=program.slots)
    met: list[Numbers] = []
    undecided: list[tuple[tuple[int, Undecided], ...]] = []
    settled = True
    for ask in plan.asks:
        if ask is None:
            return None
        found = ask(call.input, caller, facts, shared)
        if type(found) is tuple:
            met.append(found)
            undecided.append(())
        elif isinstance(found, Unsettled):
            met.append(found.met)
            undecided.append(found.undecided)
            settled = False
        else:
            return None
    floor = False if plan.floor is None else plan.floor(shared)
    if settled and floor is False:
        key = tuple(met)
        return plan.outcomes.get(key) or plan.kept(key, met)
    return plan.outcome(met, undecided, floor=floor)


def _plans_for(program: Program, caller: Caller) -> dict[str, QuickPlan] | None:
    """Return where the plans of a caller's layers are kept; None for whoever goes the long way."""
    agent, role = caller.agent, caller.role
    if not program.shortcuts.generated or is_bounded(caller):
        return None
    if not (is_plain_text(agent) and is_plain_text(role)):
        return None
    layers = program.layers_of(agent, role)
    plans = program.quick_by_layers.setdefault(layers, {})
    if len(program.quick) >= _MOST_CALLERS:
        program.quick.clear()
    program.quick[agent, role] = plans
    return plans


def _plan_for(
    program: Program, call: ToolCall, caller: Caller, plans: dict[str, QuickPlan]
) -> QuickPlan | None:
    """Return the plan of a tool, kept by its full name."""
    spec = program.catalog.get(call.tool)
    if spec is None or spec.name != call.tool:
        return None
    plan = program.plan(spec, agent=caller.agent, role=caller.role)
    if not plan.layers or any(layer.ask is None for layer in plan.layers):
        return None
    quick = plans[call.tool] = QuickPlan(spec, plan)
    return quick

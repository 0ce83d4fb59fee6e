"""The rules on one tool for callers bound by the same layers, ready to be asked by their code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from policy.catalog import ToolSpec
from policy.codegen import UndecidedRules
from policy.decision.judgement import RuleJudgement, TruthOf, floor_of, join_layers
from policy.evaluation import Evaluation, Truth, Undecided
from policy.model import Caller, Facts, Reason, ToolCall, Verdict
from policy.program import LayerPlan, RewritePlan, RulePlan, ToolPlan

Numbers: TypeAlias = tuple[int, ...]


class RuleSetOutcome:
    """What follows from a set of rules that are met; made once, and never written to again."""

    __slots__ = ("reasons", "shadowed", "verdict")

    def __init__(
        self, verdict: Verdict, reasons: tuple[Reason, ...], shadowed: tuple[Reason, ...]
    ) -> None:
        self.verdict = verdict
        self.reasons = reasons
        self.shadowed = shadowed


@dataclass(frozen=True, slots=True)
class RuleAnswers:
    """What the rules of each layer came to: the numbers of those met, and the undecided ones."""

    met: tuple[Numbers, ...]
    undecided: tuple[tuple[tuple[int, Undecided], ...], ...]

    @property
    def settled(self) -> bool:
        """Whether every rule was decided."""
        return not any(self.undecided)


class CompiledPlan:
    """A tool's rules for some layers.

    `only` is the one function where nothing else has a say, and `but_floor` where nothing else but
    the floor has. What follows from the rules that a call meets is kept in `outcomes`.
    """

    __slots__ = ("_asks", "_rules", "but_floor", "floor", "only", "outcomes", "plan", "spec")

    def __init__(self, spec: ToolSpec, plan: ToolPlan) -> None:
        self.spec = spec
        self.plan = plan
        self.floor = floor_of(plan)
        self._asks = tuple(layer.ask for layer in plan.layers)
        self._rules = tuple(layer.rules for layer in plan.layers)
        rewriting = any(layer.rewrites for layer in plan.layers)
        alone = len(self._asks) == 1 and not rewriting
        ask = self._asks[0] if alone else None
        self.only = ask if self.floor is None else None
        self.but_floor = None if self.floor is None else ask
        self.outcomes: dict[Any, RuleSetOutcome] = {}

    def ask(
        self, call: ToolCall, caller: Caller, facts: Facts, shared: Evaluation
    ) -> RuleAnswers | None:
        """Ask the rules of every layer; None where some value is not as the code expects it."""
        met: list[Numbers] = []
        undecided: list[tuple[tuple[int, Undecided], ...]] = []
        for ask in self._asks:
            found = None if ask is None else ask(call, caller, facts, shared)
            if found is None:
                return None
            if isinstance(found, UndecidedRules):
                met.append(found.met)
                undecided.append(found.undecided)
            else:
                met.append(found)
                undecided.append(())
        return RuleAnswers(tuple(met), tuple(undecided))

    def join(self, found: RuleJudgement, asked: RuleAnswers, call: Evaluation | None) -> None:
        """Add what the layers say; `call` is what wanted rewrites are worked out with."""
        truths: list[TruthOf] = []
        layers: list[LayerPlan] = []
        for place, layer in enumerate(self.plan.layers):
            rules, met, undecided = self._rules[place], asked.met[place], asked.undecided[place]
            said: dict[int, Truth] = {id(rules[number]): True for number in met}
            said.update((id(rules[number]), why) for number, why in undecided)
            truths.append(_looked_up(said))
            # All others are not met: of thousands, none need be asked.
            layers.append(layer.only((*met, *(number for number, _ in undecided))))
        join_layers(found, ToolPlan(layers=tuple(layers)), truths, call)


def _looked_up(said: Mapping[int, Truth]) -> TruthOf:
    def truth(rule: RulePlan | RewritePlan) -> Truth:
        return said.get(id(rule), False)

    return truth

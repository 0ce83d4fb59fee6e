"""The compiled rules on one tool, for callers to whom the same layers apply."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from policy.catalog import ToolSpec
from policy.codegen import IndeterminateRules
from policy.decision.judgement import RuleJudgement, TruthOf, floor_of, join_layers
from policy.evaluation import Evaluation, Indeterminate, Truth
from policy.model import Caller, Facts, Reason, ToolCall, Verdict
from policy.program import LayerPlan, RedactionPlan, RewritePlan, RulePlan, ToolPlan

Numbers: TypeAlias = tuple[int, ...]


class RuleSetOutcome:
    """What follows from a set of matching rules; made once and never changed."""

    __slots__ = ("reasons", "redactions", "shadowed", "verdict")

    def __init__(
        self,
        verdict: Verdict,
        reasons: tuple[Reason, ...],
        shadowed: tuple[Reason, ...],
        redactions: tuple[Reason, ...],
    ) -> None:
        self.verdict = verdict
        self.reasons = reasons
        self.shadowed = shadowed
        self.redactions = redactions


@dataclass(frozen=True, slots=True)
class RuleAnswers:
    """The answers of each layer's rules: the numbers of those that match, and the indeterminate."""

    matching: tuple[Numbers, ...]
    indeterminate: tuple[tuple[tuple[int, Indeterminate], ...], ...]

    @property
    def settled(self) -> bool:
        """Whether no rule was indeterminate."""
        return not any(self.indeterminate)


class CompiledPlan:
    """A tool's rules for some layers.

    `only` is the one function to call where nothing else counts, and `but_floor` where only the
    floor counts besides. Outcomes of sets of matching rules are cached in `outcomes`.
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
        """Ask the rules of every layer; None where some value is not what the code expects."""
        matching: list[Numbers] = []
        indeterminate: list[tuple[tuple[int, Indeterminate], ...]] = []
        for ask in self._asks:
            found = None if ask is None else ask(call, caller, facts, shared)
            if found is None:
                return None
            if isinstance(found, IndeterminateRules):
                matching.append(found.matching)
                indeterminate.append(found.indeterminate)
            else:
                matching.append(found)
                indeterminate.append(())
        return RuleAnswers(tuple(matching), tuple(indeterminate))

    def join(self, found: RuleJudgement, asked: RuleAnswers, call: Evaluation | None) -> None:
        """Add the answers of the layers; `call` is what wanted rewrites are computed with."""
        truths: list[TruthOf] = []
        layers: list[LayerPlan] = []
        for place, layer in enumerate(self.plan.layers):
            rules, matching, indeterminate = (
                self._rules[place],
                asked.matching[place],
                asked.indeterminate[place],
            )
            truth_of_rule: dict[int, Truth] = {id(rules[number]): True for number in matching}
            truth_of_rule.update((id(rules[number]), why) for number, why in indeterminate)
            truths.append(_looked_up(truth_of_rule))
            # All others do not match: of thousands, none need be asked.
            layers.append(layer.only((*matching, *(number for number, _ in indeterminate))))
        join_layers(found, ToolPlan(layers=tuple(layers)), truths, call)


def _looked_up(truth_of_rule: Mapping[int, Truth]) -> TruthOf:
    def truth(rule: RulePlan | RewritePlan | RedactionPlan) -> Truth:
        return truth_of_rule.get(id(rule), False)

    return truth

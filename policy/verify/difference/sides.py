"""`Side`: one policy's rules about one tool; `PlanKeys`: rules known by their meaning."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from policy.catalog import ToolSpec
from policy.checks import LayerKey, checked
from policy.evaluation import FloorOf, permits_writes_of_inline_code
from policy.program import LayerPlan, Program, RedactionPlan, RulePlan, meaning_digest
from policy.symbolic import AnyPlan, leaves_of, plans_in

# A rule by its layer and the digest of what its formula means.
PlanKey: TypeAlias = tuple[LayerKey, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One policy's tool and plans; neither if it has no such tool."""

    program: Program
    spec: ToolSpec | None
    layers: tuple[LayerPlan, ...]

    @staticmethod
    def of(program: Program, name: str) -> Side:
        """Return a policy's side of the question about a tool."""
        spec = program.catalog.get(name)
        if spec is None or spec.name != name:
            return Side(program=program, spec=None, layers=())
        count = len(program.policy.layers)
        layers = tuple(program.layer_plan(index, spec) for index in range(count))
        return Side(program=program, spec=spec, layers=layers)

    @staticmethod
    def with_tool(program: Program, spec: ToolSpec) -> Side:
        """Return a policy's side of the question about a tool that it does not know."""
        count = len(program.policy.layers)
        layers = tuple(program.foreign_plan(index, spec) for index in range(count))
        return Side(program=program, spec=spec, layers=layers)

    def layer(self, key: LayerKey) -> LayerPlan | None:
        """Return the plan of a layer, None if there is none."""
        return next((layer for layer in self.layers if layer.key == key), None)

    @property
    def floor(self) -> FloorOf | None:
        """The test of what no rule can let a call write, None if the tool needs none."""
        return self.layers[0].floor if self.layers else None

    def permits_inline_code(self) -> bool:
        """Return whether an `allow` of the global layer names inline code, as the floor asks."""
        return any(
            permits_writes_of_inline_code(plan.rule.when, plan.rule.unless)
            for layer in self.layers[:1]
            for plan in layer.allows
        )


def tests_in(plan: AnyPlan) -> Iterator[checked.Test]:
    """Yield the tests that a rule's clauses combine."""
    yield from leaves_of(plan.rule.when, plan.rule.unless)


class PlanKeys:
    """The keys of rules, each digest computed once; a rule that both sides share needs none."""

    def __init__(self, *sides: Side) -> None:
        self._known: dict[int, tuple[AnyPlan, str]] = {}
        rules = [
            {id(plan.rule) for layer in side.layers for plan in plans_in(layer)} for side in sides
        ]
        self._shared = frozenset[int]().union(*rules).intersection(*rules)

    def of(self, layer: LayerPlan, plan: AnyPlan) -> PlanKey:
        """Return the key of a rule: equal keys have equal formulas, and the same verdict."""
        known = self._known.get(id(plan))
        if known is None:
            known = self._known[id(plan)] = (plan, self._name(plan))
        return layer.key, known[1]

    def _name(self, plan: AnyPlan) -> str:
        if id(plan.rule) in self._shared:
            return f"{id(plan.rule)} {plan.reason.verdict}"
        return _digest(plan)

    def all_of(self, side: Side) -> dict[PlanKey, AnyPlan]:
        """Return all rules of one side."""
        return {self.of(layer, plan): plan for layer in side.layers for plan in plans_in(layer)}


def _digest(plan: AnyPlan) -> str:
    rule = plan.rule
    parts: tuple[object, ...] = ()
    if isinstance(plan, RulePlan):
        parts = (plan.grants, plan.covering, plan.more)
        if isinstance(rule, checked.CheckedRule):
            parts += (rule.terms,)
    elif isinstance(plan, RedactionPlan):
        parts = (plan.rule.pattern, plan.rule.replacement)
    else:
        parts = tuple(
            (change.kind, change.steps, change.value, change.pattern, change.replacement)
            for change in plan.rule.changes
        )
    return meaning_digest(type(plan).__name__, plan.reason.verdict, rule.when, rule.unless, *parts)

"""A policy ready to be asked: immutable, indexed by tool, its rules compiled once a tool.

`Program.plans(spec, agent, role)` is what a decision reads: for each layer that binds the caller,
the rules that fit the tool. Nothing scans all rules of a policy at decision time.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TypeAlias

from policy.catalog import Catalog, ToolSpec
from policy.checks import LayerKey
from policy.commands import Profiles
from policy.layers import LayeredPolicy, binds
from policy.program.changes import Wish
from policy.program.evaluation import DeclaredResources
from policy.program.expressions import TestOf
from policy.program.floor import Floor
from policy.program.prospect import Known, ProspectOf
from policy.reason import Reason
from policy.records import dataclass
from policy.verdict import Verdict

# Sub-agents' names come from models: what is remembered about callers is bounded.
_CALLERS_REMEMBERED = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """One clause of a rule for explanation: `when` or `unless`, its text and its test."""

    keyword: str
    text: str
    test: TestOf


@dataclass(frozen=True, slots=True, kw_only=True)
class RulePlan:
    """One rule on one tool. `met` decides the whole formula; `reason` is said when it is true.

    `prospect` says what the formula may become while only some fields of the input are known.
    """

    verdict: Verdict
    met: TestOf
    reason: Reason
    clauses: tuple[Clause, ...]
    prospect: Callable[[Known], ProspectOf]


@dataclass(frozen=True, slots=True, kw_only=True)
class RewritePlan:
    """One rewrite on one tool."""

    met: TestOf
    reason: Reason
    wishes: tuple[Wish, ...]
    clauses: tuple[Clause, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerPlan:
    """What one layer says about one tool.

    `default` is the default that counts where no `allow` matches (`default E for`, or the plain
    one, None where the layer delegates the tool or has none); `named_default` says that it came
    from a `default E for`. `delegated_to` are the layers that the global layer lets fill the gap.
    `declared` is what the layer knows of the tool's arguments; `floor` (global layer only) tells
    whether the call writes a file of the policy itself, None where no argument can say so.
    """

    key: LayerKey
    allows: tuple[RulePlan, ...]
    takes: tuple[RulePlan, ...]
    rewrites: tuple[RewritePlan, ...]
    shadows: tuple[RulePlan, ...]
    default: Reason | None
    named_default: bool
    delegated_to: tuple[LayerKey, ...]
    declared: DeclaredResources
    floor: TestOf | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolPlan:
    """What the layers that bind a caller say about one tool, the global layer first."""

    layers: tuple[LayerPlan, ...]


PlanLayer: TypeAlias = Callable[[int, ToolSpec], LayerPlan]


class Program:
    """A compiled policy. Safe to ask from many threads: what it remembers only ever grows alike."""

    __slots__ = (
        "_layer_plans",
        "_layers_of",
        "_plan_layer",
        "_plans",
        "catalog",
        "floor",
        "open_fields",
        "policy",
        "profiles",
        "slots",
    )

    def __init__(
        self,
        policy: LayeredPolicy,
        catalog: Catalog,
        *,
        plan_layer: PlanLayer,
        floor: Floor,
        profiles: Profiles,
        open_fields: Callable[[ToolSpec], bool],
        slots: int,
    ) -> None:
        self.policy = policy
        self.catalog = catalog
        self.floor = floor
        self.profiles = profiles
        self.open_fields = open_fields
        self.slots = slots
        self._plan_layer = plan_layer
        self._layer_plans: dict[tuple[int, str], LayerPlan] = {}
        self._plans: dict[tuple[str, tuple[int, ...]], ToolPlan] = {}
        keys = [layer.key for layer in policy.layers]

        @lru_cache(maxsize=_CALLERS_REMEMBERED)
        def layers_of(agent: str, role: str) -> tuple[int, ...]:
            return tuple(i for i, key in enumerate(keys) if binds(key, agent=agent, role=role))

        self._layers_of = layers_of

    def plan(self, spec: ToolSpec, *, agent: str, role: str) -> ToolPlan:
        """Return what the layers that bind this caller say about a tool of the catalogue."""
        layers = self._layers_of(agent, role)
        plan = self._plans.get((spec.name, layers))
        if plan is None:
            plan = self._build(spec, layers)
            self._plans[spec.name, layers] = plan
        return plan

    def _build(self, spec: ToolSpec, layers: tuple[int, ...]) -> ToolPlan:
        plans = tuple(self._layer_plan(index, spec) for index in layers)
        return ToolPlan(layers=plans)

    def _layer_plan(self, index: int, spec: ToolSpec) -> LayerPlan:
        found = self._layer_plans.get((index, spec.name))
        if found is None:
            found = self._plan_layer(index, spec)
            self._layer_plans[index, spec.name] = found
        return found

"""`Program`: a compiled policy, immutable and indexed by tool.

A decision reads `Program.plan(spec, agent, role)`: for each layer that applies to the caller, the
rules that match the tool. Nothing scans all rules of a policy at decision time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, TypeAlias, TypeVar

from policy.catalog import Catalog, ToolSpec
from policy.checks import LayerKey, checked
from policy.codegen import RuleFunction
from policy.evaluation import (
    ConditionOutcome,
    DeclaredResources,
    Evaluation,
    Floor,
    FloorOf,
    Keep,
    Known,
    Payers,
    PossibleTruthsOf,
    TestOf,
    ValueOf,
    WaysOf,
    keep_for,
)
from policy.layers import LayeredPolicy, applies_to
from policy.model import CalledTool, Reason, Verdict
from policy.program.input_changes import WantedChange
from policy.programs import Profiles
from policy.values import Redaction

# Sub-agents' names come from models, so the cache of callers is bounded.
_CALLERS_REMEMBERED = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """One clause of a rule for explanation: `when` or `unless`, its text and its test.

    `parts` evaluates every part of the clause for a call, one by one; `ways` are those in which
    code that the call starts leaves the clause as it is.
    """

    keyword: str
    text: str
    test: TestOf
    parts: Callable[[Evaluation], ConditionOutcome]
    ways: WaysOf


@dataclass(frozen=True, slots=True)
class CompiledFormula:
    """A rule's formula as closures: `matches` decides all of it, `clauses` are its parts."""

    matches: TestOf
    clauses: tuple[Clause, ...]


class Closures:
    """A rule's closures, compiled on first use: most rules never need them.

    Threads that race make equal ones. `possible_truths` returns the truths that the formula can
    still have while only some fields of the input are known.
    """

    __slots__ = ("_compile", "_compiled", "_foresee", "_prospects")

    def __init__(
        self, compile: Callable[[], CompiledFormula], foresee: Callable[[Known], PossibleTruthsOf]
    ) -> None:
        self._compile = compile
        self._foresee = foresee
        self._compiled: CompiledFormula | None = None
        self._prospects: dict[Known, PossibleTruthsOf] | None = None

    def get(self) -> CompiledFormula:
        """Return the closures that decide the rule."""
        compiled = self._compiled
        if compiled is None:
            compiled = self._compiled = self._compile()
        return compiled

    def possible_truths(self, known: Known) -> PossibleTruthsOf:
        """Return the function for the formula's possible truths from these fields."""
        if self._prospects is None:
            self._prospects = {}
        found = self._prospects.get(known)
        if found is None:
            found = self._prospects[known] = self._foresee(known)
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class RulePlan:
    """One rule on one tool. `matches` evaluates its formula; `reason` is reported if it is true.

    `rule` is the rule of the plan; `grants` is whether it matches only where it is true (an
    `allow`), and `more` whether it requires more than its clauses (that effects are covered).
    """

    verdict: Verdict
    rule: checked.CheckedRule | checked.CheckedRewrite
    closures: Closures
    reason: Reason
    grants: bool = False
    more: bool = False

    @property
    def covering(self) -> bool:
        """Whether clauses cover for each other: for an `allow`, and what asks about its calls."""
        rule = self.rule
        return self.grants or (isinstance(rule, checked.CheckedRule) and rule.with_approval)

    @property
    def matches(self) -> TestOf:
        """The whole formula as a function of the call."""
        return self.closures.get().matches

    @property
    def clauses(self) -> tuple[Clause, ...]:
        """The clauses of the formula, each as a function of the call."""
        return self.closures.get().clauses

    def possible_truths(self, known: Known) -> PossibleTruthsOf:
        """Return the function for the formula's possible truths from these fields."""
        return self.closures.possible_truths(known)


@dataclass(frozen=True, slots=True, kw_only=True)
class RewritePlan:
    """One rewrite on one tool."""

    rule: checked.CheckedRewrite
    closures: Closures
    reason: Reason
    wishes: tuple[WantedChange, ...]

    @property
    def matches(self) -> TestOf:
        """The whole formula as a function of the call."""
        return self.closures.get().matches

    @property
    def clauses(self) -> tuple[Clause, ...]:
        """The clauses of the formula, each as a function of the call."""
        return self.closures.get().clauses


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitPlan:
    """One limit on one tool.

    `amount` is what a call charges (None: 1), `payers` for whom. `counts` holds for the tools whose
    charges count against it. `may_match` is the formula with absent values as indeterminate: what
    it is not false for may be one of the limit's calls.
    """

    limit: checked.CheckedLimit
    closures: Closures
    reason: Reason
    amount: ValueOf | None
    payers: Payers
    counts: Callable[[CalledTool], bool]
    may_match: TestOf

    @property
    def matches(self) -> TestOf:
        """The whole formula as a function of the call."""
        return self.closures.get().matches

    @property
    def clauses(self) -> tuple[Clause, ...]:
        """The clauses of the formula, each as a function of the call."""
        return self.closures.get().clauses


@dataclass(frozen=True, slots=True, kw_only=True)
class RedactionPlan:
    """One `redact results` on one tool.

    The formula is that of its conditions on the call. `on_result` evaluates those that read the
    result, for a call that has one; None where there are none.
    """

    rule: checked.CheckedRedaction
    closures: Closures
    reason: Reason
    redaction: Redaction
    on_result: TestOf | None

    @property
    def matches(self) -> TestOf:
        """The whole formula as a function of the call."""
        return self.closures.get().matches

    @property
    def clauses(self) -> tuple[Clause, ...]:
        """The clauses of the formula, each as a function of the call."""
        return self.closures.get().clauses


_Rule = TypeVar("_Rule", RulePlan, RewritePlan, RedactionPlan)


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerPlan:
    """The rules and defaults of one layer for one tool.

    `default` is the default in effect where no `allow` matches (`default E for`, or the plain one,
    None where the layer delegates the tool or has none); `named_default` is whether it came from a
    `default E for`. `delegated_to` are the layers to which the global layer delegates the tool.
    `declared` are the tool's resource arguments in this layer; `floor` (global layer only) is the
    test of whether the call writes a file of the policy itself, None where no call of the tool can.
    `ask` finds the rules that match a call, by their index in `rules`; None where each rule must be
    evaluated. `limits` count calls that the rules do not deny, `redactions` are those of results,
    shadow ones included.
    """

    key: LayerKey
    allows: tuple[RulePlan, ...]
    restricting: tuple[RulePlan, ...]
    rewrites: tuple[RewritePlan, ...]
    shadows: tuple[RulePlan, ...]
    default: Reason | None
    named_default: bool
    delegated_to: tuple[LayerKey, ...]
    declared: DeclaredResources
    floor: FloorOf | None
    ask: RuleFunction | None = None
    limits: tuple[LimitPlan, ...] = ()
    redactions: tuple[RedactionPlan, ...] = ()

    @property
    def rules(self) -> tuple[RulePlan | RewritePlan | RedactionPlan, ...]:
        """All rules of the layer, in the order in which they are numbered."""
        return (
            *self.allows,
            *self.restricting,
            *self.rewrites,
            *self.shadows,
            *self.redactions,
        )

    def only(self, numbers: Iterable[int]) -> LayerPlan:
        """Return the layer with the rules of these numbers alone, in their order."""
        ordered = sorted(set(numbers))

        def kept(rules: tuple[_Rule, ...], start: int) -> tuple[_Rule, ...]:
            places = (number - start for number in ordered)
            return tuple(rules[place] for place in places if 0 <= place < len(rules))

        restricting = len(self.allows)
        rewrites = restricting + len(self.restricting)
        shadows = rewrites + len(self.rewrites)
        return replace(
            self,
            allows=kept(self.allows, 0),
            restricting=kept(self.restricting, restricting),
            rewrites=kept(self.rewrites, rewrites),
            shadows=kept(self.shadows, shadows),
            redactions=kept(self.redactions, shadows + len(self.shadows)),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolPlan:
    """The plans of the layers that apply to a caller for one tool, the global layer first."""

    layers: tuple[LayerPlan, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortcuts:
    """Which optimizations are used; none changes a decision.

    `generated`: rules are evaluated by generated code. `indexed`: of many rules on one tool, only
    those that can match a call are evaluated. `prepared`: paths and hosts are looked up in sets
    instead of tested item by item. `expressions`: a regular expression that is a few literals is
    searched without RE2. `scripts` has no effect, and goes with the next release.
    """

    generated: bool = True
    indexed: bool = True
    prepared: bool = True
    expressions: bool = True
    scripts: bool = True


ALL_SHORTCUTS: Shortcuts = Shortcuts()
NO_SHORTCUTS: Shortcuts = Shortcuts(
    generated=False,
    indexed=False,
    prepared=False,
    expressions=False,
    scripts=False,
)


PlanLayer: TypeAlias = Callable[[int, ToolSpec], LayerPlan]


class Program:
    """A compiled policy. Safe to use from many threads: its caches only grow, and consistently."""

    __slots__ = (
        "_layer_plans",
        "_layers_of",
        "_plan_layer",
        "_plans",
        "by_agent",
        "catalog",
        "floor",
        "has_limits",
        "keep",
        "open_fields",
        "policy",
        "profiles",
        "quick",
        "quick_by_layers",
        "shortcuts",
        "slots",
        "token",
        "unknown",
        "value_rules",
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
        shortcuts: Shortcuts = ALL_SHORTCUTS,
    ) -> None:
        self.policy = policy
        self.catalog = catalog
        self.floor = floor
        self.profiles = profiles
        self.open_fields = open_fields
        self.slots = slots
        self.shortcuts = shortcuts
        # What is kept of a call of a tool, so that later decisions can read it; None: of any tool,
        # only what all histories have.
        self.keep: Callable[[CalledTool], Keep] | None = keep_for(_reads_of(policy))
        # Whether a caller's name can affect which layers apply.
        self.by_agent = any(layer.key.kind in ("agent", "agents") for layer in policy.layers)
        self.has_limits = any(layer.limits for layer in policy.layers)
        # Caches of decisions: layers by role, and by agent where its name matters; plans by tool
        # and layers.
        self.quick: dict[str | tuple[str, str], dict[str, Any]] = {}
        self.quick_by_layers: dict[tuple[int, ...], dict[str, Any]] = {}
        # The names of the rules that look for values elsewhere, once somebody has asked.
        self.value_rules: frozenset[str] | None = None
        # Unknown tool names, with their results.
        self.unknown: dict[str, Any] = {}
        # Stands for "admitted by this catalogue, with the fields that this policy opens".
        self.token = object()
        self._plan_layer = plan_layer
        self._layer_plans: dict[tuple[int, str], LayerPlan] = {}
        self._plans: dict[tuple[str, tuple[int, ...]], ToolPlan] = {}
        keys = [layer.key for layer in policy.layers]

        @lru_cache(maxsize=_CALLERS_REMEMBERED)
        def layers_of(agent: str, role: str) -> tuple[int, ...]:
            return tuple(i for i, key in enumerate(keys) if applies_to(key, agent=agent, role=role))

        self._layers_of = layers_of

    def layers_of(self, agent: str, role: str) -> tuple[int, ...]:
        """Return the indexes of the layers that apply to a caller."""
        return self._layers_of(agent, role)

    def plan(self, spec: ToolSpec, *, agent: str, role: str) -> ToolPlan:
        """Return the plan of a tool of the catalogue for this caller."""
        layers = self._layers_of(agent, role)
        plan = self._plans.get((spec.name, layers))
        if plan is None:
            plan = self._build(spec, layers)
            self._plans[spec.name, layers] = plan
        return plan

    def _build(self, spec: ToolSpec, layers: tuple[int, ...]) -> ToolPlan:
        plans = tuple(self.layer_plan(index, spec) for index in layers)
        return ToolPlan(layers=plans)

    def layer_plan(self, index: int, spec: ToolSpec) -> LayerPlan:
        """Return the plan of one layer, by its index in the policy, for a tool of the catalogue."""
        found = self._layer_plans.get((index, spec.name))
        if found is None:
            found = self._plan_layer(index, spec)
            self._layer_plans[index, spec.name] = found
        return found

    def foreign_plan(self, index: int, spec: ToolSpec) -> LayerPlan:
        """Return the plan of one layer for a tool that is not in the catalogue."""
        return self._plan_layer(index, spec)


def _reads_of(policy: LayeredPolicy) -> tuple[checked.PastRead, ...]:
    """Return what the rules of a policy read of earlier calls, each once."""
    found = [
        read
        for layer in policy.layers
        for rules in (layer.rules, layer.rewrites, layer.limits)
        for rule in rules
        if rule.reads
        for read in rule.reads
    ]
    return tuple(dict.fromkeys(found))

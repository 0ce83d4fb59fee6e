"""Compiles a layered policy: rules sorted by the tools they apply to, compiled on first use.

Compiling is lazy: a tool's rules become closures at its first call, so that loading ten thousand
rules costs their checks, but not their compilation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Generic, TypeVar

from policy.catalog import Catalog, Resource, ToolSpec
from policy.checks import checked
from policy.codegen import RuleItem, ToolContext, write_layer
from policy.evaluation import (
    DeclaredResources,
    Floor,
    FloorOf,
    compile_floor,
    permits_writes_of_inline_code,
)
from policy.layers import LayeredPolicy
from policy.model import Reason, Verdict, strictest
from policy.program.approval_terms import RuleDigests, declaration_digest
from policy.program.plan_inputs import PlanInputs, PlanMemory
from policy.program.program import (
    ALL_SHORTCUTS,
    LayerPlan,
    Program,
    RewritePlan,
    RulePlan,
    Shortcuts,
)
from policy.program.rule_plans import (
    limit_plan,
    quoted,
    redaction_plan,
    rewrite_plan,
    rule_plans,
    shadow_plan,
)
from policy.programs import NO_PROFILES, Profiles

_Rule = TypeVar(
    "_Rule",
    checked.CheckedRule,
    checked.CheckedRewrite,
    checked.CheckedLimit,
    checked.CheckedRedaction,
)

_NO_FLOOR = Floor()


def compile_policy(
    policy: LayeredPolicy,
    catalog: Catalog,
    *,
    floor: Floor = _NO_FLOOR,
    profiles: Profiles = NO_PROFILES,
    shortcuts: Shortcuts = ALL_SHORTCUTS,
    plans: PlanMemory | None = None,
) -> Program:
    """Return the program of a policy over the tools of `catalog`.

    `floor` are the policy's own files and folders, which no rule can let a call write. `profiles`
    are those of the programs that commands run. `shortcuts` and the `plans` of earlier programs
    never change a decision.
    """
    indexes = [_LayerIndex(layer) for layer in policy.layers]
    opened = [
        declaration.tools
        for layer in policy.layers[:1]
        for declaration in layer.declarations
        if declaration.extra_fields
    ]
    slots = max(
        (
            rule.slots
            for layer in policy.layers
            for rules in (layer.rules, layer.rewrites, layer.limits, layer.redactions)
            for rule in rules
        ),
        default=0,
    )

    def ingredients(index: int, spec: ToolSpec) -> PlanInputs:
        here = indexes[index]
        return PlanInputs(
            spec=spec,
            key=here.policy.key,
            rules=tuple(here.rules.matching(spec)),
            rewrites=tuple(here.rewrites.matching(spec)),
            limits=tuple(here.limits.matching(spec)),
            redactions=tuple(here.redactions.matching(spec)),
            defaults=here.policy.defaults,
            delegations=here.policy.delegations,
            declarations=_added(indexes[0].policy, here.policy, spec),
            top=index == 0,
            floor=floor,
            profiles=profiles,
            slots=slots,
            shortcuts=shortcuts,
        )

    def carry(index: int, spec: ToolSpec) -> LayerPlan:
        if plans is None:
            return plan_layer(index, spec)
        made_of = ingredients(index, spec)
        plan = plans.find(made_of)
        if plan is None:
            plan = plan_layer(index, spec)
            plans.keep(made_of, plan)
        return plan

    def plan_layer(index: int, spec: ToolSpec) -> LayerPlan:
        declared = _declared(
            _added(indexes[0].policy, indexes[index].policy, spec),
            spec,
            profiles=profiles,
            shortcuts=shortcuts,
        )
        plan = _plan_layer(indexes, index, spec, declared=declared, floor=floor)
        if not shortcuts.generated:
            return plan
        tool = ToolContext(spec=spec, declared=plan.declared, slots=slots)
        ask = write_layer(_items(plan), tool, indexed=shortcuts.indexed)
        return replace(plan, ask=ask)

    return Program(
        policy,
        catalog,
        plan_layer=carry,
        floor=floor,
        profiles=profiles,
        open_fields=lambda spec: any(tools.matches(spec) for tools in opened),
        slots=slots,
        shortcuts=shortcuts,
    )


def _items(plan: LayerPlan) -> list[RuleItem]:
    """Return the rules of a layer as generated code numbers them."""
    return [
        RuleItem(
            number=number,
            when=rule.rule.when,
            unless=rule.rule.unless,
            grants=isinstance(rule, RulePlan) and rule.grants,
            more=isinstance(rule, RulePlan) and rule.more,
            covering=isinstance(rule, RulePlan) and rule.covering,
            whole=rule,
        )
        for number, rule in enumerate(plan.rules)
    ]


class _LayerIndex:
    """One layer's rules by exact tool name; those with wildcards are tested for every tool."""

    def __init__(self, policy: checked.CheckedPolicy) -> None:
        self.policy = policy
        self.rules = _Index(policy.rules)
        self.rewrites = _Index(policy.rewrites)
        self.limits = _Index(policy.limits)
        self.redactions = _Index(policy.redactions)
        self.meanings = RuleDigests(policy.key)


class _Index(Generic[_Rule]):
    def __init__(self, items: tuple[_Rule, ...]) -> None:
        self._exact: dict[str, list[tuple[int, _Rule]]] = {}
        self._wild: list[tuple[int, _Rule]] = []
        for place, item in enumerate(items):
            names = item.tools.exact_names()
            if names is None:
                self._wild.append((place, item))
            for name in names or ():
                self._exact.setdefault(name, []).append((place, item))

    def matching(self, spec: ToolSpec) -> Iterator[_Rule]:
        """Yield the items that match a tool, in the order of the text."""
        placed = dict(self._wild)
        for name in spec.names:
            placed.update(self._exact.get(name, ()))
        for place in sorted(placed):
            if placed[place].tools.matches(spec):
                yield placed[place]


def _plan_layer(
    indexes: list[_LayerIndex],
    index: int,
    spec: ToolSpec,
    *,
    declared: DeclaredResources,
    floor: Floor,
) -> LayerPlan:
    here = indexes[index]
    meaning = declaration_digest(_added(indexes[0].policy, here.policy, spec))
    layer = here.policy.key.title
    allows: list[RulePlan] = []
    restricting: list[RulePlan] = []
    shadows: list[RulePlan] = []
    for rule in here.rules.matching(spec):
        terms = here.meanings.of_rule(rule, meaning) if rule.asks else None
        for plan in rule_plans(rule, declared, layer=layer, terms=terms):
            if rule.shadow:
                shadows.append(plan)
            elif plan.verdict is Verdict.ALLOW:
                allows.append(plan)
            else:
                restricting.append(plan)
    rewrites: list[RewritePlan] = []
    for rewrite in here.rewrites.matching(spec):
        change = rewrite_plan(rewrite, declared, layer=layer)
        if rewrite.shadow:
            shadows.append(shadow_plan(change))
        else:
            rewrites.append(change)
    limits = tuple(limit_plan(one, declared, layer=layer) for one in here.limits.matching(spec))
    delegated = tuple(d.to for d in here.policy.delegations if d.tools.matches(spec))
    default, named = _default(here, spec, delegated=bool(delegated), layer=layer)
    return LayerPlan(
        key=here.policy.key,
        allows=tuple(allows),
        restricting=tuple(restricting),
        rewrites=tuple(rewrites),
        redactions=tuple(
            redaction_plan(rule, declared, layer=layer) for rule in here.redactions.matching(spec)
        ),
        shadows=tuple(shadows),
        default=default,
        named_default=named,
        delegated_to=delegated,
        declared=declared,
        floor=_floor(floor, declared, allows) if index == 0 else None,
        limits=limits,
    )


def _floor(floor: Floor, declared: DeclaredResources, allows: list[RulePlan]) -> FloorOf | None:
    """Return the test of the floor; inline code counts as a script does if an `allow` says so."""
    rules = (plan.rule for plan in allows)
    coded = any(permits_writes_of_inline_code(rule.when, rule.unless) for rule in rules)
    return compile_floor(floor, declared, with_inline_code=coded)


def _added(
    top: checked.CheckedPolicy, layer: checked.CheckedPolicy, spec: ToolSpec
) -> tuple[checked.CheckedDeclaration, ...]:
    """Return the `tool` statements that apply: the global layer's for all, a layer's for itself."""
    statements = top.declarations if layer is top else (*top.declarations, *layer.declarations)
    return tuple(declaration for declaration in statements if declaration.tools.matches(spec))


def _declared(
    added: tuple[checked.CheckedDeclaration, ...],
    spec: ToolSpec,
    *,
    profiles: Profiles,
    shortcuts: Shortcuts,
) -> DeclaredResources:
    """Return the tool's declared resources, with the additions of statements."""
    resources: dict[Resource, None] = dict.fromkeys(spec.resources)
    complete = spec.complete
    for declaration in added:
        resources.update(dict.fromkeys(declaration.resources))
        complete = complete or declaration.complete
    return DeclaredResources(
        tuple(resources),
        complete=complete,
        unseen=spec.unseen,
        profiles=profiles,
        prepared=shortcuts.prepared,
        expressions=shortcuts.expressions,
    )


# ------------------------------------------------------------------ defaults


def _default(
    here: _LayerIndex, spec: ToolSpec, *, delegated: bool, layer: str
) -> tuple[Reason | None, bool]:
    """Return the default in effect, as a reason, and whether it names the tool."""
    defaults = here.policy.defaults
    named = [d for d in defaults if d.tools is not None and d.tools.matches(spec)]
    if named:
        return _default_reason(named, here.meanings, layer=layer), True
    plain = [d for d in defaults if d.tools is None]
    if delegated or not plain:
        return None, False
    return _default_reason(plain, here.meanings, layer=layer), False


def _default_reason(
    defaults: list[checked.CheckedDefault], meanings: RuleDigests, *, layer: str
) -> Reason:
    verdict = strictest(d.verdict for d in defaults)
    first = next(d for d in defaults if d.verdict is verdict)
    return Reason(
        rule="default",
        verdict=verdict,
        layer=layer,
        file=first.span.file,
        line=first.span.line,
        clause=quoted(first.text),
        terms=meanings.of_default(first) if verdict is Verdict.ASK else None,
    )

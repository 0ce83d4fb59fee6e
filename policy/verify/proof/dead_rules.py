"""Finds rules that never matter: no call of any known tool gets another verdict without them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from policy.catalog import ToolSpec
from policy.checks import LayerKey, checked
from policy.model import Verdict
from policy.program import LayerPlan, Program, RulePlan
from policy.solving import Clauses, Search, Unsatisfiable
from policy.symbolic import AllCalls, Basis, Claim, leaves_of, require_violation


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadRule:
    """A rule that never matters. `because_of` are what decides its calls in any case.

    Without any, no call of a known tool matches the rule.
    """

    rule: checked.CheckedRule
    layer: LayerKey
    because_of: tuple[Basis, ...]


def dead_rules(program: Program, *, steps: int) -> Iterator[DeadRule]:
    """Yield the rules of which it is certain that they never matter, in the order of their layers.

    A rule matters if a call may get a looser verdict without it; an `allow` also if a call may get
    a stricter one. Rules of packs are left out: they are written for many policies.
    """
    for index, layer in enumerate(program.policy.layers):
        for rule in layer.rules:
            if rule.shadow or rule.of_pack or rule.broken:
                continue
            found = _dead(program, rule, index, steps=steps)
            if found is not None:
                yield DeadRule(rule=rule, layer=layer.key, because_of=found)


def _dead(
    program: Program, rule: checked.CheckedRule, index: int, *, steps: int
) -> tuple[Basis, ...] | None:
    """Return why a rule never matters, for all tools together; None if it may matter."""
    because: dict[Basis, None] = {}
    specs = [spec for spec in program.catalog.specs if rule.tools.matches(spec)]
    for spec in specs:
        found = _dead_for(program, rule, index, spec, steps=steps)
        if found is None:
            return None
        because.update(dict.fromkeys(found))
    return tuple(because) if specs else None


def _dead_for(
    program: Program, rule: checked.CheckedRule, index: int, spec: ToolSpec, *, steps: int
) -> tuple[Basis, ...] | None:
    count = len(program.policy.layers)
    layers = [program.layer_plan(number, spec) for number in range(count)]
    here = layers[index]
    own = [plan for plan in (*here.allows, *here.restricting) if plan.rule.span == rule.span]
    grants = any(plan.grants for plan in own)
    if grants:
        # Of an `allow`, every call has to be denied in any case, whatever it allows.
        claim = _claim(rule, here, "always deny")
    else:
        layers[index] = replace(
            here, restricting=tuple(plan for plan in here.restricting if plan not in own)
        )
        claim = _claim(rule, here, "always deny" if rule.verdict is Verdict.DENY else "never allow")
    return _what_keeps(program, claim, spec, tuple(layers), certainly=grants, steps=steps)


def _claim(rule: checked.CheckedRule, here: LayerPlan, claim: str) -> Claim:
    invariant = checked.CheckedInvariant(
        id=rule.id,
        kind="prove",
        claim="always deny" if claim == "always deny" else "never allow",
        tools=rule.tools,
        when=rule.when,
        unless=rule.unless,
        slots=rule.slots,
        text=rule.text,
        span=rule.span,
    )
    return Claim(invariant=invariant, layer=here.key, declared=here.declared)


def _what_keeps(
    program: Program,
    claim: Claim,
    spec: ToolSpec,
    layers: tuple[LayerPlan, ...],
    *,
    certainly: bool,
    steps: int,
) -> tuple[Basis, ...] | None:
    """Return what keeps a claim, of calls that `certainly` meet it or of all that may."""
    invariant = claim.invariant
    plans: Iterator[RulePlan] = (p for each in layers for p in (*each.allows, *each.restricting))
    tests = [
        *leaves_of(invariant.when, invariant.unless),
        *(test for plan in plans for test in leaves_of(plan.rule.when, plan.rule.unless)),
    ]
    clauses = Clauses()
    reading = AllCalls(
        clauses,
        spec,
        program.catalog.views.of(spec.schema),
        tests=tests,
        layers=[layer.key for layer in layers],
        slots=max(program.slots, invariant.slots),
    )
    wrong = require_violation(claim, spec, layers, reading)
    if certainly:
        clauses.require(wrong.clear)
    with Search(clauses, steps=steps) as search:
        found = search.solve(wrong.bases)
        if not isinstance(found, Unsatisfiable):
            return None
        return tuple(wrong.bases[literal] for literal in search.smallest_core(found.core))

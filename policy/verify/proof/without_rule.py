"""Why no call of one tool gets another verdict without a rule."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from policy.catalog import ToolSpec
from policy.checks import checked
from policy.model import Verdict
from policy.program import LayerPlan, Program, RulePlan
from policy.solving import Clauses, Search, Unsatisfiable
from policy.symbolic import AllCalls, Basis, Claim, leaves_of, require_violation


def what_decides_instead(
    program: Program, rule: checked.CheckedRule, index: int, spec: ToolSpec, *, steps: int
) -> tuple[Basis, ...] | None:
    """Return what decides the rule's calls of a tool without it; None if it may matter."""
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

"""Explains decisions: every rule on the tool, whether it matched, and the outcome of each clause.

For people, never for the agent: an explanation of what would be allowed helps a hijacked model.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Literal

from policy.decision.clause_outcome import (
    ClauseOutcome,
    Outcome,
    PartOutcome,
    clause_outcome,
    outcome_of,
)
from policy.decision.resources import ResourceUse, resource_uses
from policy.decision.sentences.rules import approval_words
from policy.evaluation import CallEffects, Evaluation, Indeterminate
from policy.model import Caller, Decision, Facts, Reason, ToolCall, Verdict
from policy.program import LayerPlan, Program, RewritePlan, RulePlan

# How many resources a sentence names for which a condition is false.
_MOST_NAMED = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleOutcome:
    """One rule that covers the tool: whether it matched, and the outcome of its clauses."""

    reason: Reason
    kind: Literal["allow", "ask", "deny", "rewrite", "shadow"]
    outcome: Outcome
    counts: bool
    clauses: tuple[ClauseOutcome, ...]
    why: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerOutcome:
    """What one layer contributed for one caller of the chain."""

    layer: str
    agent: str
    rules: tuple[RuleOutcome, ...]
    default: Reason | None
    default_counts: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """The explanation of one decision. `needed` lists what would have to change for an allow."""

    decision: Decision
    layers: tuple[LayerOutcome, ...]
    resources: tuple[ResourceUse, ...]
    needed: tuple[str, ...]


def explain(
    program: Program,
    decision: Decision,
    *,
    caller: Caller,
    facts: Facts,
    parts: bool = True,
) -> Explanation:
    """Explain a decision on an admitted call; for a refused call there are no layers to list.

    Without `parts`, clauses are not divided: nothing is evaluated but what the decision evaluates.
    """
    layers = _layer_outcomes(program, decision.asked, caller=caller, facts=facts, parts=parts)
    return Explanation(
        decision=decision,
        layers=layers,
        resources=_resources(program, decision.call, caller=caller, facts=facts),
        needed=_needed(decision, layers),
    )


def _evaluation(
    program: Program, call: ToolCall, *, caller: Caller, facts: Facts
) -> Evaluation | None:
    spec = program.catalog.get(call.tool)
    if spec is None:
        return None
    return Evaluation(spec, call.input, caller=caller, facts=facts, slots=program.slots)


def _layer_outcomes(
    program: Program, call: ToolCall, *, caller: Caller, facts: Facts, parts: bool
) -> tuple[LayerOutcome, ...]:
    root = _evaluation(program, call, caller=caller, facts=facts)
    if root is None:
        return ()
    found: list[LayerOutcome] = []
    for one in caller.chain():
        here = root.for_caller(one)
        plan = program.plan(root.spec, agent=one.agent, role=one.role)
        found += [_layer_outcome(each, here, agent=one.agent, parts=parts) for each in plan.layers]
    return tuple(found)


def _layer_outcome(layer: LayerPlan, call: Evaluation, *, agent: str, parts: bool) -> LayerOutcome:
    effects = call.effects(layer.declared) if parts else None
    outcome = partial(_rule, call=call, effects=effects)
    rules = [outcome(rule, kind=_kind(rule)) for rule in (*layer.allows, *layer.restricting)]
    rules += [outcome(rewrite, kind="rewrite") for rewrite in layer.rewrites]
    rules += [outcome(rule, kind="shadow") for rule in layer.shadows]
    allowed = any(rule.kind == "allow" and rule.counts for rule in rules)
    return LayerOutcome(
        layer=layer.key.title,
        agent=agent,
        rules=tuple(rules),
        default=layer.default,
        default_counts=layer.default is not None and not allowed,
    )


def _kind(rule: RulePlan) -> Literal["allow", "ask", "deny"]:
    match rule.verdict:
        case Verdict.ALLOW:
            return "allow"
        case Verdict.ASK:
            return "ask"
        case _:
            return "deny"


def _rule(
    rule: RulePlan | RewritePlan,
    *,
    call: Evaluation,
    kind: Literal["allow", "ask", "deny", "rewrite", "shadow"],
    effects: CallEffects | None,
) -> RuleOutcome:
    """Return the outcome of a rule; without `effects` its clauses are not divided."""
    truth = rule.matches(call)
    undecided = isinstance(truth, Indeterminate)
    return RuleOutcome(
        reason=rule.reason,
        kind=kind,
        outcome=outcome_of(truth),
        counts=truth is True or (undecided and kind != "allow"),
        clauses=tuple(clause_outcome(clause, call, effects) for clause in rule.clauses),
        why=truth.why if isinstance(truth, Indeterminate) else None,
    )


def _resources(
    program: Program, call: ToolCall, *, caller: Caller, facts: Facts
) -> tuple[ResourceUse, ...]:
    """Return what the call does, in canonical form, and where that comes from."""
    root = _evaluation(program, call, caller=caller, facts=facts)
    if root is None:
        return ()
    plan = program.plan(root.spec, agent=caller.agent, role=caller.role)
    if not plan.layers:
        return ()
    return tuple(resource_uses(root.effects(plan.layers[0].declared)))


def _needed(decision: Decision, layers: tuple[LayerOutcome, ...]) -> tuple[str, ...]:
    """Return what stands between the call and an allow, one sentence per point."""
    if decision.verdict is Verdict.ALLOW:
        return ()
    blocking = [r for r in decision.reasons if r.verdict.rank > Verdict.ALLOW.rank]
    needed = [f"{_hindrance(reason)}{_or_approval(reason)}" for reason in blocking]
    if any(r.rule in ("none", "default") for r in blocking):
        near = [rule for layer in layers for rule in layer.rules if _is_near(rule)]
        needed += [_missed(rule) for rule in sorted(near, key=_distance)]
    return tuple(dict.fromkeys(needed))


def _hindrance(reason: Reason) -> str:
    who = f"`{reason.rule}`"
    if reason.rule in ("none", "default"):
        return "an `allow` must match"
    if reason.undecided:
        return f"{who} must not be indeterminate: {reason.undecided}"
    if reason.clause:
        return f"{who} must not match: `{reason.clause}`"
    if reason.message:
        return f"{who} must no longer apply: {reason.message}"
    verb = "denies" if reason.verdict is Verdict.DENY else "asks about"
    return f"{who} {verb} every such call"


def _or_approval(reason: Reason) -> str:
    """Return whose approval would do as well, if only certain people may give it."""
    if reason.verdict is not Verdict.ASK or reason.terms is None or reason.terms.plain:
        return ""
    return f", or {approval_words(reason.terms)} is given"


def _is_near(rule: RuleOutcome) -> bool:
    return rule.kind == "allow" and not rule.counts


def _distance(rule: RuleOutcome) -> int:
    """Return how much of an `allow` does not hold: its parts, and the resources of each."""
    return sum(len(part.resources) or 1 for clause in rule.clauses for part, _ in _failed(clause))


def _failed(clause: ClauseOutcome) -> Iterator[tuple[ClauseOutcome | PartOutcome, bool]]:
    """Yield what of a clause keeps its rule from matching, each with whether it should hold."""
    wanted = clause.keyword == "when"
    if (clause.outcome == "holds") != wanted:
        yield from _opposing(clause, wanted=wanted)


def _opposing(
    test: ClauseOutcome | PartOutcome, *, wanted: bool
) -> Iterator[tuple[ClauseOutcome | PartOutcome, bool]]:
    """Yield the smallest parts of which each one keeps a condition from being as wanted."""
    if test.operator == "not":
        yield from _opposing(test.parts[0], wanted=not wanted)
    elif test.operator == ("and" if wanted else "or"):
        for part in test.parts:
            if part.outcome == "indeterminate" or (part.outcome == "holds") != wanted:
                yield from _opposing(part, wanted=wanted)
    else:
        yield test, wanted


def _missed(rule: RuleOutcome) -> str:
    failed = [_wanted(part, wanted=wanted) for c in rule.clauses for part, wanted in _failed(c)]
    if not failed and rule.why is not None:
        return f"`{rule.reason.rule}` does not allow it: {rule.why}"
    return f"`{rule.reason.rule}` allows it if {' and '.join(failed) or 'its conditions hold'}"


def _wanted(test: ClauseOutcome | PartOutcome, *, wanted: bool) -> str:
    """Return what would have to hold instead, and what keeps it from being so."""
    found, negated = test.resources, "" if wanted else "not "
    if test.outcome == "indeterminate":
        why = next((each.why for each in found if each.why), test.why)
        return f"{negated}`{test.text}` (now indeterminate: {why})"
    named = [f"`{each.resource}`" for each in found[:_MOST_NAMED]]
    if len(found) > _MOST_NAMED:
        named.append("others")
    true = "not true" if wanted else "true"
    return f"{negated}`{test.text}`" + (f" ({true} of {' and '.join(named)})" if named else "")

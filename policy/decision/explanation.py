"""Explains decisions: every rule on the tool, whether it matched, and the outcome of each clause.

For people, never for the agent: an explanation of what would be allowed helps a hijacked model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from policy.decision.resources import ResourceUse, resource_uses
from policy.decision.sentences.rules import approval_words
from policy.evaluation import Evaluation, Indeterminate, Truth
from policy.model import Caller, Decision, Facts, Reason, ToolCall, Verdict
from policy.program import Clause, LayerPlan, Program, RewritePlan, RulePlan

Outcome: TypeAlias = Literal["holds", "fails", "indeterminate"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClauseOutcome:
    """The outcome of one clause for this call; `why` is set only where it is indeterminate."""

    keyword: str
    text: str
    outcome: Outcome
    why: str | None = None


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


def explain(program: Program, decision: Decision, *, caller: Caller, facts: Facts) -> Explanation:
    """Explain a decision on an admitted call; for a refused call there are no layers to list."""
    layers = _layer_outcomes(program, decision.asked, caller=caller, facts=facts)
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
    program: Program, call: ToolCall, *, caller: Caller, facts: Facts
) -> tuple[LayerOutcome, ...]:
    root = _evaluation(program, call, caller=caller, facts=facts)
    if root is None:
        return ()
    found: list[LayerOutcome] = []
    for one in caller.chain():
        here = root.for_caller(one)
        plan = program.plan(root.spec, agent=one.agent, role=one.role)
        found.extend(_layer_outcome(layer, here, agent=one.agent) for layer in plan.layers)
    return tuple(found)


def _layer_outcome(layer: LayerPlan, call: Evaluation, *, agent: str) -> LayerOutcome:
    rules = [_rule(rule, call, kind=_kind(rule)) for rule in (*layer.allows, *layer.takes)]
    rules += [_rule(rewrite, call, kind="rewrite") for rewrite in layer.rewrites]
    rules += [_rule(rule, call, kind="shadow") for rule in layer.shadows]
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
    call: Evaluation,
    *,
    kind: Literal["allow", "ask", "deny", "rewrite", "shadow"],
) -> RuleOutcome:
    truth = rule.met(call)
    undecided = isinstance(truth, Indeterminate)
    return RuleOutcome(
        reason=rule.reason,
        kind=kind,
        outcome=_outcome(truth),
        counts=truth is True or (undecided and kind != "allow"),
        clauses=tuple(_clause(clause, call) for clause in rule.clauses),
        why=truth.why if isinstance(truth, Indeterminate) else None,
    )


def _clause(clause: Clause, call: Evaluation) -> ClauseOutcome:
    truth = clause.test(call)
    why = None
    if isinstance(truth, Indeterminate):
        why = truth.why if truth.text in (None, clause.text) else f"`{truth.text}`: {truth.why}"
    return ClauseOutcome(keyword=clause.keyword, text=clause.text, outcome=_outcome(truth), why=why)


def _outcome(truth: Truth) -> Outcome:
    if isinstance(truth, Indeterminate):
        return "indeterminate"
    return "holds" if truth else "fails"


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
        needed += [_missed(rule) for layer in layers for rule in layer.rules if _is_near(rule)]
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


def _missed(rule: RuleOutcome) -> str:
    failed = [c for c in rule.clauses if (c.outcome == "holds") != (c.keyword == "when")]
    what = ", and ".join(_wanted(clause) for clause in failed) or rule.why or "its conditions hold"
    return f"`{rule.reason.rule}` allows it if {what}"


def _wanted(clause: ClauseOutcome) -> str:
    negated = "" if clause.keyword == "when" else "not "
    unknown = f" (now indeterminate: {clause.why})" if clause.why else ""
    return f"{negated}`{clause.text}`{unknown}"

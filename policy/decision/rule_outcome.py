"""What each rule that covers a tool contributed to a decision, layer by layer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Literal, TypeAlias

from policy.decision.clause_outcome import ClauseOutcome, Outcome, clause_outcome, outcome_of
from policy.evaluation import CallEffects, Evaluation, Indeterminate
from policy.model import Caller, Facts, Reason, ToolCall, Verdict
from policy.program import LayerPlan, LimitPlan, Program, RedactionPlan, RewritePlan, RulePlan

RuleKind: TypeAlias = Literal["allow", "ask", "deny", "rewrite", "redact", "limit", "shadow"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleOutcome:
    """One rule that covers the tool: whether it matched, and the outcome of its clauses.

    `possible` is false for an `allow` that no input can meet, such as one for another agent, or one
    that a parameter of its pack switches off. `on_result` are the conditions of a redaction on what
    the tool returns, which nothing can decide before.
    """

    reason: Reason
    kind: RuleKind
    outcome: Outcome
    counts: bool
    clauses: tuple[ClauseOutcome, ...]
    why: str | None = None
    possible: bool = True
    on_result: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerOutcome:
    """What one layer contributed for one caller of the chain."""

    layer: str
    agent: str
    rules: tuple[RuleOutcome, ...]
    default: Reason | None
    default_counts: bool


def layer_outcomes(
    program: Program, call: ToolCall, *, caller: Caller, facts: Facts, parts: bool
) -> tuple[LayerOutcome, ...]:
    """Return the outcome of every layer for every caller of the chain."""
    return tuple(
        _layer_outcome(layer, here, parts=parts)
        for layer, here in layers_of_call(program, call, caller=caller, facts=facts)
    )


def allow_outcomes(
    program: Program, call: ToolCall, *, caller: Caller, facts: Facts
) -> Iterator[RuleOutcome]:
    """Yield the outcome of every `allow` that covers the tool, for every caller of the chain."""
    for layer, here in layers_of_call(program, call, caller=caller, facts=facts):
        effects = here.effects(layer.declared)
        for rule in layer.allows:
            yield _rule(rule, call=here, kind="allow", effects=effects)


def layers_of_call(
    program: Program, call: ToolCall, *, caller: Caller, facts: Facts
) -> Iterator[tuple[LayerPlan, Evaluation]]:
    """Yield each layer that applies to a caller of the chain, with the call as that makes it."""
    root = evaluation_of(program, call, caller=caller, facts=facts)
    if root is None:
        return
    for one in caller.chain():
        here = root.for_caller(one)
        plan = program.plan(root.spec, agent=one.agent, role=one.role)
        yield from ((layer, here) for layer in plan.layers)


def _layer_outcome(layer: LayerPlan, call: Evaluation, *, parts: bool) -> LayerOutcome:
    effects = call.effects(layer.declared) if parts else None
    outcome = partial(_rule, call=call, effects=effects)
    rules = [outcome(rule, kind=_kind(rule)) for rule in (*layer.allows, *layer.restricting)]
    rules += [outcome(rewrite, kind="rewrite") for rewrite in layer.rewrites]
    rules += [outcome(rule, kind="shadow") for rule in layer.shadows]
    rules += [
        outcome(rule, kind="shadow" if rule.reason.shadow else "redact")
        for rule in layer.redactions
    ]
    rules += [
        outcome(limit, kind="shadow" if limit.reason.shadow else "limit") for limit in layer.limits
    ]
    allowed = any(rule.kind == "allow" and rule.counts for rule in rules)
    return LayerOutcome(
        layer=layer.key.title,
        agent=call.caller.agent,
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
    rule: RulePlan | RewritePlan | RedactionPlan | LimitPlan,
    *,
    call: Evaluation,
    kind: RuleKind,
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
        on_result=_on_result(rule) if isinstance(rule, RedactionPlan) else None,
        possible=not isinstance(rule, RulePlan) or kind != "allow" or _may_grant(rule, call),
    )


def _on_result(plan: RedactionPlan) -> str | None:
    when, unless = plan.rule.result_when, plan.rule.result_unless
    words = [] if when is None else [f"when {when.text}"]
    return " ".join([*words, *([] if unless is None else [f"unless {unless.text}"])]) or None


def _may_grant(rule: RulePlan, call: Evaluation) -> bool:
    """Return whether the rule could match a call with some other input."""
    return rule.possible_truths(frozenset())(call).may_grant


def evaluation_of(
    program: Program, call: ToolCall, *, caller: Caller, facts: Facts
) -> Evaluation | None:
    """Return the evaluation of a call; None if no tool has its name."""
    spec = program.catalog.get(call.tool)
    if spec is None:
        return None
    return Evaluation(spec, call.input, caller=caller, facts=facts, slots=program.slots)

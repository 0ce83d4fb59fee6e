"""The plan of one rule on one tool.

A plan holds a rule's verdict and its condition, which is compiled on first use.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import TypeAlias

from policy.checks import checked
from policy.evaluation import (
    ConditionScope,
    DeclaredResources,
    Known,
    PossibleTruthsOf,
    TestOf,
    all_of,
    any_truth,
    compile_cover,
    compile_partial,
    compile_payers,
    compile_test,
    compile_value,
    conjunction_of,
    covering_tests,
    negated,
    negation_of,
    outcome_of_condition,
    tool_matcher,
    ways_to_keep,
)
from policy.model import Reason, Terms, Verdict
from policy.program.input_changes import compile_changes
from policy.program.program import (
    Clause,
    Closures,
    CompiledFormula,
    LimitPlan,
    RedactionPlan,
    RewritePlan,
    RulePlan,
)
from policy.values import Redaction, Regex, compile_regex

AnyRule: TypeAlias = (
    checked.CheckedRule | checked.CheckedRewrite | checked.CheckedLimit | checked.CheckedRedaction
)

# How many characters of a clause reasons quote.
_LONGEST_CLAUSE = 200


def shadow_plan(rewrite: RewritePlan) -> RulePlan:
    """Return a shadow rewrite as a rule without effect."""
    return RulePlan(
        verdict=Verdict.NONE,
        rule=rewrite.rule,
        closures=rewrite.closures,
        reason=rewrite.reason,
    )


def rule_plans(
    rule: checked.CheckedRule,
    declared: DeclaredResources,
    *,
    layer: str,
    terms: Terms | None,
) -> Iterator[RulePlan]:
    """Yield the rule's plan; an `allow … with approval` becomes an allow and an ask."""
    yield _rule_plan(rule, rule.verdict, declared, layer=layer, terms=terms)
    if rule.with_approval and rule.verdict is Verdict.ALLOW:
        yield _rule_plan(rule, Verdict.ASK, declared, layer=layer, terms=terms)


def _rule_plan(
    rule: checked.CheckedRule,
    verdict: Verdict,
    declared: DeclaredResources,
    *,
    layer: str,
    terms: Terms | None,
) -> RulePlan:
    grants, asks = verdict is Verdict.ALLOW, verdict is Verdict.ASK
    return RulePlan(
        verdict=verdict,
        rule=rule,
        closures=Closures(
            partial(_compiled, rule, declared, grants=grants),
            partial(_possible_truths, rule, declared, grants=grants),
        ),
        reason=_reason(rule, verdict, layer=layer, terms=terms if asks else None),
        grants=grants,
        more=grants and rule.speaks_of_resources,
    )


def _asks_too(rule: AnyRule) -> bool:
    """Return whether a rule asks about what it allows: then both halves match the same commands."""
    return isinstance(rule, checked.CheckedRule) and rule.with_approval


def _compiled(rule: AnyRule, declared: DeclaredResources, *, grants: bool) -> CompiledFormula:
    clauses = _clauses(rule, declared, grants=grants)
    tests = [_demand(clause) for clause in clauses]
    if grants and isinstance(rule, checked.CheckedRule) and rule.speaks_of_resources:
        tests.append(compile_cover(tuple(covering_tests(rule.when)), declared))
    return CompiledFormula(matches=_matches(tests), clauses=clauses)


def _possible_truths(
    rule: checked.CheckedRule, declared: DeclaredResources, known: Known, *, grants: bool
) -> PossibleTruthsOf:
    """Return the function for the formula's possible truths while only some fields are known."""
    parts: list[PossibleTruthsOf] = []
    if rule.when is not None:
        place = _place(declared, absent_is_false=not grants, covering=grants or _asks_too(rule))
        parts.append(compile_partial(rule.when, place, known))
    if rule.unless is not None:
        place = _place(declared, absent_is_false=False, covering=False)
        parts.append(negation_of(compile_partial(rule.unless, place, known)))
    if grants and rule.speaks_of_resources:
        parts.append(any_truth)
    return conjunction_of(parts)


def rewrite_plan(
    rewrite: checked.CheckedRewrite, declared: DeclaredResources, *, layer: str
) -> RewritePlan:
    """Return the rewrite's plan on a tool."""
    place = _place(declared, absent_is_false=False, covering=False)
    return RewritePlan(
        rule=rewrite,
        # A rewrite does not affect whether a tool may be called.
        closures=Closures(partial(_compiled, rewrite, declared, grants=False), lambda _: any_truth),
        reason=_reason(rewrite, Verdict.DENY, layer=layer),
        wishes=compile_changes(rewrite.changes, place, rule=rewrite.id),
    )


def limit_plan(
    limit: checked.CheckedLimit, declared: DeclaredResources, *, layer: str
) -> LimitPlan:
    """Return the limit's plan on a tool."""
    place = _place(declared, absent_is_false=False, covering=False)
    reason = replace(_reason(limit, Verdict.DENY, layer=layer), clause=quoted(limit.text))
    return LimitPlan(
        limit=limit,
        closures=Closures(partial(_compiled, limit, declared, grants=False), lambda _: any_truth),
        reason=reason,
        amount=None
        if limit.amount is None
        else compile_value(limit.amount, replace(place, counting=True)),
        payers=compile_payers(limit, declared),
        counts=tool_matcher(limit.tools),
        may_match=_may_match(limit, place),
    )


def _may_match(limit: checked.CheckedLimit, place: ConditionScope) -> TestOf:
    """Return the formula of a limit where absent values decide nothing."""
    tests: list[TestOf] = []
    if limit.when is not None:
        tests.append(compile_test(limit.when, place))
    if limit.unless is not None:
        unless = compile_test(limit.unless, place)
        tests.append(lambda call: negated(unless(call)))
    return _matches(tests)


def redaction_plan(
    redaction: checked.CheckedRedaction, declared: DeclaredResources, *, layer: str
) -> RedactionPlan:
    """Return the plan of a `redact results` on a tool."""
    regex = compile_regex(redaction.pattern)
    assert isinstance(regex, Regex), "a policy with another expression is not compiled"
    return RedactionPlan(
        rule=redaction,
        # A redaction does not affect whether a tool may be called.
        closures=Closures(
            partial(_compiled, redaction, declared, grants=False), lambda _: any_truth
        ),
        reason=_reason(redaction, Verdict.DENY, layer=layer),
        redaction=Redaction(regex=regex, replacement=redaction.replacement, rule=redaction.id),
        on_result=_on_result(redaction, declared),
    )


def _on_result(redaction: checked.CheckedRedaction, declared: DeclaredResources) -> TestOf | None:
    """Return the test of a redaction's conditions on the result, None if it has none."""
    tests: list[TestOf] = []
    if redaction.result_when is not None:
        place = _place(declared, absent_is_false=True, covering=False)
        tests.append(compile_test(redaction.result_when, place))
    if redaction.result_unless is not None:
        place = _place(declared, absent_is_false=False, covering=False)
        unless = compile_test(redaction.result_unless, place)
        tests.append(lambda call: negated(unless(call)))
    return all_of(tests) if tests else None


def _clauses(
    rule: AnyRule,
    declared: DeclaredResources,
    *,
    grants: bool,
) -> tuple[Clause, ...]:
    clauses: list[Clause] = []
    if rule.when is not None:
        place = _place(declared, absent_is_false=not grants, covering=grants or _asks_too(rule))
        clauses.append(_clause("when", rule.when, place))
    if rule.unless is not None:
        place = _place(declared, absent_is_false=False, covering=False)
        clauses.append(_clause("unless", rule.unless, place))
    return tuple(clauses)


def _clause(keyword: str, test: checked.Test, place: ConditionScope) -> Clause:
    return Clause(
        keyword=keyword,
        text=test.text,
        test=compile_test(test, place),
        parts=outcome_of_condition(test, place),
        ways=ways_to_keep(test, place),
    )


def _place(declared: DeclaredResources, *, absent_is_false: bool, covering: bool) -> ConditionScope:
    return ConditionScope(
        declared=declared, absent_is_false=absent_is_false, covering=covering, test=compile_test
    )


def _demand(clause: Clause) -> TestOf:
    """Return the test that the formula requires of a clause: `when` holds, `unless` does not."""
    test = clause.test
    return test if clause.keyword == "when" else lambda call: negated(test(call))


def _matches(tests: list[TestOf]) -> TestOf:
    return all_of(tests) if tests else lambda call: True


def _reason(
    rule: AnyRule,
    verdict: Verdict,
    *,
    layer: str,
    terms: Terms | None = None,
) -> Reason:
    return Reason(
        rule=rule.id,
        verdict=verdict,
        layer=layer,
        file=rule.span.file,
        line=rule.span.line,
        clause=_deciding_text(rule),
        message=rule.because,
        audit=rule.audit,
        shadow=rule.shadow,
        terms=terms,
    )


def _deciding_text(rule: AnyRule) -> str | None:
    if rule.when is not None:
        return quoted(rule.when.text)
    return None if rule.unless is None else quoted(f"unless {rule.unless.text}")


def quoted(text: str) -> str:
    """Return a clause as reasons quote it."""
    return text if len(text) <= _LONGEST_CLAUSE else f"{text[: _LONGEST_CLAUSE - 1]}…"

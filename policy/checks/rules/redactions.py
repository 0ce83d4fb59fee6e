"""`redact results`: its conditions on the call and on the result, and what it replaces."""

from __future__ import annotations

from dataclasses import replace

from policy.checks.assembly import Unit
from policy.checks.checked import CheckedRedaction
from policy.checks.conditions.reader_state import StatementContext
from policy.checks.conditions.result_fact import parts_of_unless, parts_of_when, with_result
from policy.checks.conditions.string_tests import check_regex
from policy.checks.context import CheckContext
from policy.checks.names.interpolation import interpolate
from policy.checks.names.known_tools import ToolKnowledge
from policy.checks.rules.approval import read_terms
from policy.checks.rules.clauses import read_clauses
from policy.checks.rules.reader import read_tools, rule_id, statement_context
from policy.checks.satisfiability.never import check_can_hold
from policy.syntax import print_clause, print_matching, print_tools, tree
from policy.values import (
    DEFAULT_REPLACEMENT,
    Redaction,
    Regex,
    Unsearchable,
    compile_regex,
    redact_text,
)


def read_redaction(
    statement: tree.RedactResults, unit: Unit, check: CheckContext, *, knowledge: ToolKnowledge
) -> CheckedRedaction:
    """Return a `redact results`, resolved."""
    before = check.report.errors
    selector = read_tools(statement.tools, unit, check, grants=False)
    context = with_result(statement_context(selector, unit, check), selector)
    clauses = read_clauses(statement.clauses, context, permits=False)
    read_terms(statement.clauses, context, asks=False)
    replacement = _replacement(statement, context)
    _check_expression(statement, replacement, context)
    if not unit.pack and check.report.errors == before:
        check_can_hold(clauses, knowledge.all_of(selector), check.report, grants=False)
    when, unless = parts_of_when(clauses.when), parts_of_unless(clauses.unless)
    shadow = "shadow " if statement.shadow else ""
    head = f"{shadow}redact results of {print_tools(statement.tools)}"
    matching = print_matching(statement.regex, statement.replacement)
    checked = CheckedRedaction(
        id=rule_id(statement.name, statement.span, unit.prefix),
        tools=selector,
        when=when.call,
        unless=unless.call,
        result_when=when.result,
        result_unless=unless.result,
        because=clauses.because,
        audit=clauses.audit,
        shadow=statement.shadow,
        pattern=statement.regex.pattern,
        replacement=replacement,
        slots=context.slots,
        text=" ".join([head, matching, *map(print_clause, statement.clauses)]),
        of_pack=unit.pack,
        span=statement.span,
    )
    return checked if check.report.errors == before else replace(checked, broken=True)


def _replacement(statement: tree.RedactResults, context: StatementContext) -> str:
    if statement.replacement is None:
        return DEFAULT_REPLACEMENT
    return interpolate(statement.replacement, context.scope, context.report, span=statement.span)


def _check_expression(
    statement: tree.RedactResults, replacement: str, context: StatementContext
) -> None:
    """Report an expression that replaces nothing, or whose replacement it would replace again."""
    check_regex(statement.regex, context)
    regex = compile_regex(statement.regex.pattern)
    if not isinstance(regex, Regex):
        return
    if regex.matches_nothing:
        context.report.add(
            "never-holds",
            "this regular expression matches no text, so the rule does nothing",
            span=statement.regex.span,
            help="correct the expression, or remove the rule",
        )
        return
    redaction = Redaction(regex=regex, replacement=replacement, rule="")
    try:
        again = redact_text(replacement, (redaction,))
    except Unsearchable:
        return
    if again is not None and again.text != replacement:
        context.report.add(
            "unstable-redaction",
            f"the replacement `{replacement}` would itself be redacted, and become `{again.text}`",
            span=statement.span,
            help="choose a replacement that the expression does not match",
        )

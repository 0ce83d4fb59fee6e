"""Resolves the rules, rewrites and invariants of one file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TypeAlias, get_args

from policy.catalog import ToolSelector
from policy.checks.assembly import Unit
from policy.checks.checked import CheckedInvariant, CheckedRewrite, CheckedRule
from policy.checks.conditions.reader_state import StatementContext
from policy.checks.context import CheckContext
from policy.checks.names.known_tools import ToolKnowledge
from policy.checks.rules.approval import read_terms
from policy.checks.rules.changes import read_change
from policy.checks.rules.clauses import read_clauses
from policy.checks.rules.resource_texts import check_resource_texts
from policy.checks.satisfiability.never import check_can_hold
from policy.checks.satisfiability.refused_changes import check_changes_accepted
from policy.checks.satisfiability.uncovered_effects import (
    check_incomplete_resources,
    check_uncovered_effects,
)
from policy.diagnostics import Label, did_you_mean
from policy.model import Span, Verdict
from policy.syntax import print_change, print_clause, print_tools, tree

# Values of a reason's `rule` that are not names of rules.
RESERVED = frozenset(
    "default none schema scope identity floor frozen confirmation pin table".split()
)

_Named: TypeAlias = (
    tree.Rule | tree.KnownRule | tree.Rewrite | tree.RedactResults | tree.Limit | tree.Invariant
)
WITH_NAMES = get_args(_Named)


@dataclass(slots=True, kw_only=True, eq=False)
class RuleNames:
    """The rule names of a generation so far, with their spans.

    `broken` are the names that rules and packs with errors probably have.
    """

    places: dict[str, Span]
    broken: set[str] = field(default_factory=set)


def read_rule(
    rule: tree.Rule, unit: Unit, check: CheckContext, *, knowledge: ToolKnowledge
) -> CheckedRule:
    """Return an `allow`, `ask` or `deny`, resolved."""
    allows = rule.verdict is Verdict.ALLOW
    before = check.report.errors
    selector = read_tools(rule.tools, unit, check, grants=allows)
    context = statement_context(selector, unit, check)
    clauses = read_clauses(rule.clauses, context, permits=allows, approvable=allows)
    tools, sure = knowledge.subject(selector)
    asks = clauses.with_approval or rule.verdict is Verdict.ASK
    terms = read_terms(rule.clauses, context, asks=asks, tools=tools, allows=allows)
    # Empty parameters are a choice of the pack's user, not a mistake in its rules.
    if not unit.pack and check.report.errors == before:
        check_can_hold(clauses, sure, check.report, grants=allows)
    checked = CheckedRule(
        id=rule_id(rule.name, rule.span, unit.prefix),
        verdict=rule.verdict,
        tools=selector,
        when=clauses.when,
        unless=clauses.unless,
        because=clauses.because,
        audit=clauses.audit,
        shadow=rule.shadow,
        with_approval=clauses.with_approval,
        speaks_of_resources=context.speaks,
        slots=context.slots,
        text=_sentence(rule, context),
        terms=terms,
        of_pack=unit.pack,
        reads=context.past_reads,
        span=rule.span,
    )
    if not unit.pack and check.report.errors == before:
        everything = context.tools is not None and context.tools.everything
        check_uncovered_effects(
            checked, tools, check.report, others=sure is None, everything=everything
        )
        check_incomplete_resources(checked, tools, knowledge.declared, check.report)
    if check.report.errors == before:
        check_resource_texts(checked, knowledge.resources(selector), check.report)
    return checked if check.report.errors == before else replace(checked, broken=True)


def read_rewrite(
    rewrite: tree.Rewrite, unit: Unit, check: CheckContext, *, knowledge: ToolKnowledge
) -> CheckedRewrite:
    """Return a rewrite with its changes, resolved."""
    before = check.report.errors
    selector = read_tools(rewrite.tools, unit, check, grants=False)
    context = statement_context(selector, unit, check)
    clauses = read_clauses(rewrite.clauses, context, permits=False)
    read = [read_change(change, context) for change in rewrite.changes]
    changes = tuple(change for change in read if change is not None)
    read_terms(rewrite.clauses, context, asks=False)
    if not unit.pack and check.report.errors == before:
        check_can_hold(clauses, knowledge.all_of(selector), check.report, grants=False)
    if not unit.pack and check.report.errors == before:
        check_changes_accepted(changes, knowledge.matching(selector), check.report)
    words = [f"rewrite {print_tools(rewrite.tools)}", *map(print_clause, rewrite.clauses)]
    return CheckedRewrite(
        id=rule_id(rewrite.name, rewrite.span, unit.prefix),
        tools=selector,
        when=clauses.when,
        unless=clauses.unless,
        because=clauses.because,
        audit=clauses.audit,
        shadow=rewrite.shadow,
        changes=changes,
        slots=context.slots,
        text=" ".join([*words, *map(print_change, rewrite.changes)]),
        broken=check.report.errors != before,
        reads=context.past_reads,
        span=rewrite.span,
    )


def read_invariant(invariant: tree.Invariant, unit: Unit, check: CheckContext) -> CheckedInvariant:
    """Return an invariant, resolved."""
    selector = read_tools(invariant.tools, unit, check, grants=False)
    context = statement_context(selector, unit, check)
    clauses = read_clauses(invariant.clauses, context, permits=False)
    read_terms(invariant.clauses, context, asks=False)
    head = f"{invariant.kind} {invariant.claim} {print_tools(invariant.tools)}"
    return CheckedInvariant(
        id=rule_id(invariant.name, invariant.span, unit.prefix),
        kind=invariant.kind,
        claim=invariant.claim,
        tools=selector,
        when=clauses.when,
        unless=clauses.unless,
        slots=context.slots,
        text=" ".join([head, *map(print_clause, invariant.clauses)]),
        span=invariant.span,
    )


def read_tools(tools: tree.Tools, unit: Unit, check: CheckContext, *, grants: bool) -> ToolSelector:
    """Return the selector of a rule's tools; a table's key may be an alias or a category."""
    if unit.table:
        return check.tools.table_selector(tools, grants=grants)
    return check.tools.selector(tools, unit.scope, grants=grants, lenient=unit.pack)


def statement_context(selector: ToolSelector, unit: Unit, check: CheckContext) -> StatementContext:
    """Return the state for reading the conditions of a statement about these tools."""
    return StatementContext(
        check=check,
        scope=unit.scope,
        tools=check.fields_for(selector),
        is_in_pack=unit.pack,
    )


def rule_id(name: str | None, span: Span, prefix: str) -> str:
    """Return the identifier of a rule in reasons: its name after its pack's, or its position."""
    return f"{prefix}{name}" if name is not None else f"{span.file}:{span.line}"


def check_name(
    statement: _Named,
    unit: Unit,
    names: RuleNames,
    check: CheckContext,
) -> None:
    """Report a rule name that is taken or reserved."""
    name = statement.name
    if name is None or unit.table:
        return
    if name in RESERVED:
        check.report.add(
            "reserved-rule-name",
            f"the rule name `{name}` is reserved",
            span=statement.span,
            help="reasons use this name for something else; choose another",
        )
    full = f"{unit.prefix}{name}"
    first = names.places.setdefault(full, statement.span)
    if first is statement.span:
        return
    check.report.add(
        "duplicate-rule",
        f"another rule already has the name `{full}`",
        span=statement.span,
        label="the same name again",
        labels=(Label(span=first, text="first used here"),),
        help="use the pack under another name with `as NAME`"
        if unit.pack
        else "rule names are unique over all files; choose another",
    )


def claim_names(
    statements: Iterable[tree.Statement | tree.KnownRule], unit: Unit, names: RuleNames
) -> bool:
    """Claim the names of a unit's statements all at once, if none is taken or reserved.

    Return whether that was so; otherwise none is claimed, and `check_name` reports the problem.
    """
    if unit.table:
        return True
    named = [one for one in statements if isinstance(one, WITH_NAMES) and one.name is not None]
    prefix = unit.prefix
    spans = {f"{prefix}{one.name}": one.span for one in named}
    sound = (
        len(spans) == len(named)
        and RESERVED.isdisjoint([one.name for one in named])
        and names.places.keys().isdisjoint(spans)
    )
    if sound:
        names.places.update(spans)
    return sound


def check_reference(by: str, names: RuleNames, *, check: CheckContext, span: Span) -> None:
    """Report a test that names a rule that does not exist."""
    if by in RESERVED or by in names.places or ":" in by:
        return
    if by in names.broken or by.partition(".")[0] in names.broken:
        return  # the rule or the pack of this name has an error of its own
    check.report.add(
        "unknown-rule",
        f"no rule is called `{by}`",
        span=span,
        help=did_you_mean(by, names.places) or "write the name of a rule, or `default`",
    )


def _sentence(rule: tree.Rule, context: StatementContext) -> str:
    words = ["shadow"] if rule.shadow else []
    words += [str(rule.verdict), print_tools(rule.tools)]
    return " ".join([*words, *[print_clause(c, context.spelled) for c in rule.clauses]])

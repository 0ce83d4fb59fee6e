"""The clauses of a rule: conditions, reason, and whether it requires approval."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import assert_never

from policy.checks.checked import Test
from policy.checks.conditions.command_context import with_any_redirection, with_command_context
from policy.checks.conditions.reader_state import StatementContext
from policy.checks.conditions.tests import read_test
from policy.checks.names.interpolation import interpolate
from policy.diagnostics import Label
from policy.model import Span
from policy.syntax import tree


@dataclass(slots=True, kw_only=True)
class Clauses:
    """The contents of a rule's clauses, and the spans of its conditions for later diagnostics."""

    when: Test | None = None
    unless: Test | None = None
    because: str | None = None
    audit: str | None = None
    with_approval: bool = False
    when_span: Span | None = None
    unless_span: Span | None = None


def read_clauses(
    clauses: Iterable[tree.Clause],
    context: StatementContext,
    *,
    permits: bool,
    approvable: bool = False,
) -> Clauses:
    """Read a rule's clauses; if its `when` permits, its `unless` restricts, and vice versa.

    `approvable` is whether the rule may have `with approval`, as only an `allow` may.
    """
    clauses = tuple(clauses)
    found = Clauses()
    seen: dict[str, Span] = {}
    _read_when(clauses, found, context, permits=permits)
    for clause in clauses:
        if _is_second(clause, seen, context):
            continue
        match clause:
            case tree.When() | tree.After():
                continue  # read above, as one condition
            case tree.Unless():
                context.permits = not permits
                unless = read_test(clause.test, context)
                found.unless = unless if permits else with_any_redirection(unless)
                found.unless_span = clause.span
            case tree.Because():
                found.because = _filled(clause, context)
            case tree.Audit():
                found.audit = _filled(clause, context)
            case tree.WithApproval():
                found.with_approval = _approval(clause, context, approvable=approvable)
            case tree.By() | tree.TwoPeople() | tree.Remember():
                # The terms of approval are read with the rule: see `approval`.
                continue
            case _:
                assert_never(clause)
    context.permits = None
    return found


def _read_when(
    clauses: tuple[tree.Clause, ...], found: Clauses, context: StatementContext, *, permits: bool
) -> None:
    """Read all `when` and `after` clauses as one condition: they must all hold."""
    tests = [test for clause in clauses if (test := _condition(clause)) is not None]
    if not tests:
        return
    span = next(c.span for c in clauses if isinstance(c, tree.When | tree.After))
    test = tests[0] if len(tests) == 1 else tree.And(operands=tuple(tests), span=span)
    context.permits = permits
    when = read_test(test, context)
    found.when, found.when_span = with_command_context(when) if permits else when, span


def _condition(clause: tree.Clause) -> tree.Expr | None:
    """Return the condition of a `when` or an `after`."""
    match clause:
        case tree.When():
            return clause.test
        case tree.After():
            return tree.AfterTest(tools=clause.tools, within=clause.within, span=clause.span)
        case _:
            return None


_WORDS: dict[type, str] = {
    tree.Because: "because",
    tree.Audit: "audit",
    tree.WithApproval: "with approval",
    tree.By: "by",
    tree.TwoPeople: "two people",
    tree.Remember: "remember",
}


def _is_second(clause: tree.Clause, seen: dict[str, Span], context: StatementContext) -> bool:
    """Return whether the rule already has such a clause, and report it."""
    word = _WORDS.get(type(clause))
    if word is None:
        return False
    first = seen.setdefault(word, clause.span)
    if first is clause.span:
        return False
    context.report.add(
        "second-clause",
        f"a second `{word}` in one rule",
        span=clause.span,
        labels=(Label(span=first, text="the first one"),),
        help="keep one of them",
    )
    return True


def _filled(clause: tree.Because | tree.Audit, context: StatementContext) -> str:
    return interpolate(clause.text, context.scope, context.report, span=clause.span)


def _approval(clause: tree.WithApproval, context: StatementContext, *, approvable: bool) -> bool:
    if not approvable:
        context.report.add(
            "approval-without-allow",
            "`with approval` belongs to an `allow`",
            span=clause.span,
            help="an `ask` asks by itself; remove the clause",
        )
    return approvable

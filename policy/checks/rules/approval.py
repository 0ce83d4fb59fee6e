"""What a rule requires of an approval: its `by`, `two people` and `remember`."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import TypeVar

from policy.checks.conditions.fields import field_type, tool_names
from policy.checks.conditions.reader_state import StatementContext
from policy.checks.names.interpolation import SAMPLES, duration_of, interpolate
from policy.checks.names.known_tools import KnownTool
from policy.checks.rules.changes import input_steps
from policy.diagnostics import did_you_mean
from policy.model import Remembering, Span, Terms
from policy.syntax import print_clause, print_path, tree
from policy.values import quote, without_invisible

# An approval that lasts longer is really a rule, and should be written as one.
_LONGEST = timedelta(days=366)

_NO_TERMS = Terms()
_OF_APPROVALS = frozenset({tree.By, tree.TwoPeople, tree.Remember})

_Clause = TypeVar("_Clause", tree.By, tree.TwoPeople, tree.Remember)


def read_terms(
    clauses: Iterable[tree.Clause],
    context: StatementContext,
    *,
    asks: bool,
    allows: bool = False,
    tools: tuple[KnownTool, ...] = (),
) -> Terms:
    """Return the approval terms of a rule's clauses; `asks` is whether it requires approval.

    `allows` is whether `with approval` could be added, `tools` are its known tools.
    """
    clauses = tuple(clauses)
    if _OF_APPROVALS.isdisjoint(map(type, clauses)):
        return _NO_TERMS
    by = _first(clauses, tree.By)
    two = _first(clauses, tree.TwoPeople)
    remember = _first(clauses, tree.Remember)
    present: list[tree.By | tree.TwoPeople | tree.Remember] = [c for c in (by, two, remember) if c]
    if present and not asks:
        _report_needless(present[0], context, allows=allows)
        return _NO_TERMS
    return Terms(
        groups=() if by is None else _groups(by, context),
        two_people=two is not None,
        remember=None if remember is None else _remembering(remember, context, tools),
    )


def _first(clauses: tuple[tree.Clause, ...], kind: type[_Clause]) -> _Clause | None:
    return next((clause for clause in clauses if isinstance(clause, kind)), None)


def _report_needless(
    clause: tree.By | tree.TwoPeople | tree.Remember, context: StatementContext, *, allows: bool
) -> None:
    word = print_clause(clause).split('"')[0].strip()
    context.report.add(
        "terms-without-ask",
        f"`{word}` is a term of an approval, but this rule requires none",
        span=clause.span,
        help="add `with approval`" if allows else "remove it, or move it to an `ask`",
    )


# ------------------------------------------------------------------ who


def _groups(by: tree.By, context: StatementContext) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for written in by.groups:
        name = interpolate(written, context.scope, context.report, span=by.span)
        problem = _problem(name, found)
        if problem is None:
            found[name] = None
            _check_known(name, written, by, context)
            continue
        context.report.add(
            "bad-group",
            problem,
            span=by.span,
            help="name each group once, exactly as your identity provider spells it",
        )
    return tuple(found)


def _check_known(name: str, written: str, by: tree.By, context: StatementContext) -> None:
    """Report a group that the configuration does not have, if it has any."""
    known = context.check.groups
    if not known or known.get(name):
        return
    if "${" in written and name == SAMPLES["string"]:
        return  # a pack by itself, whose parameter has no value
    problem = "has no members" if name in known else "is not configured"
    context.report.add(
        "unknown-group",
        f"the group {quote(name)} {problem}",
        span=by.span,
        help=did_you_mean(name, [group for group, people in known.items() if people])
        or "list its members in `[approvals.groups]` of `placet.toml`, unless the host application "
        "says who they are",
    )


def _problem(name: str, found: Iterable[str]) -> str | None:
    """Return why nobody can be in a group of this name, or that it is repeated."""
    if not name.strip():
        return "a group name cannot be empty"
    if name != name.strip() or without_invisible(name) != name or not name.isprintable():
        return f"{quote(name)} has surrounding spaces or invisible characters"
    return f"the group {quote(name)} is repeated" if name in found else None


# ------------------------------------------------------------------ for how long


def _remembering(
    clause: tree.Remember, context: StatementContext, tools: tuple[KnownTool, ...]
) -> Remembering:
    seconds = None
    if isinstance(clause.period, tree.Duration):
        seconds = _seconds(clause.period, context)
    if clause.times is None:
        _check_harmless(clause, context, tools)
    return Remembering(seconds=seconds, fields=_fields(clause, context), times=clause.times)


def _seconds(period: tree.Duration, context: StatementContext) -> float:
    span = duration_of(period, context.report)
    if not span:
        _refuse("an approval remembered for no time has no effect", period.span, context)
    elif span > _LONGEST:
        _refuse("an approval lasts at most a year", period.span, context)
    return span.total_seconds()


def _fields(clause: tree.Remember, context: StatementContext) -> tuple[tuple[str | int, ...], ...]:
    found: dict[tuple[str | int, ...], None] = {}
    for path in clause.fields:
        shown = print_path(path)
        steps = input_steps(path, context)
        if steps is None:
            continue
        if any(isinstance(step, tree.Star) for step in path.steps):
            _refuse(f"`{shown}` means every element; name the list itself", path.span, context)
        elif steps in found:
            _refuse(f"`{shown}` is repeated", path.span, context)
        elif context.tools is not None:
            field_type(steps, context.tools, context.report, shown=shown, span=path.span)
        found[steps] = None
    return tuple(found)


def _check_harmless(
    clause: tree.Remember, context: StatementContext, tools: tuple[KnownTool, ...]
) -> None:
    """Report a `remember` by which one approval would allow unlimited changes."""
    harmful = [known.spec.name for known in tools if not _is_harmless(known)]
    if tools and not harmful:
        return
    why = (
        f"every execution of {tool_names(harmful)} may have further effects"
        if harmful
        else "the rule matches no known tool"
    )
    context.report.add(
        "remember-without-count",
        f"one approval would cover any number of executions, and {why}",
        span=clause.span,
        help=(
            "write `up to N times`; only tools declared `read_only` or `idempotent` do not need it"
        ),
    )


def _is_harmless(known: KnownTool) -> bool:
    return known.spec.read_only is True or known.spec.idempotent is True


def _refuse(why: str, span: Span, context: StatementContext) -> None:
    help = "run `placet check --explain bad-remember` for an example"
    context.report.add("bad-remember", why, span=span, help=help)

"""`input[NAME]`, where NAME is a parameter of a pack or a `let`: whether the tools have the field.

The name was chosen where the pack is used, so that is where a wrong one is reported.
"""

from __future__ import annotations

from dataclasses import dataclass

from policy.catalog import Step
from policy.checks.conditions.fields import report_missing
from policy.checks.conditions.reader_state import StatementContext
from policy.checks.names.interpolation import dotted_name, value_of_param
from policy.checks.names.scopes import MAX_DEPTH, Scope
from policy.diagnostics import Severity
from policy.model import Span
from policy.syntax import tree


@dataclass(frozen=True, slots=True, kw_only=True)
class _Choice:
    """Where the name of a field was chosen; `parameter` is one that was left at its default."""

    span: Span
    parameter: str | None = None


def check_named_field(key: tree.Expr, path: tuple[Step, ...], context: StatementContext) -> None:
    """Report tools that lack the field at `path`, whose last step `key` names.

    An empty name says that there is no such field.
    """
    if context.tools is None or path[-1] == "":
        return
    choice = _choice(key, context.scope)
    if choice is None:
        return
    named = choice.parameter
    report_missing(
        path,
        context.tools,
        context.report,
        span=choice.span,
        severity=None if named is None else Severity.WARNING,
        help=None
        if named is None
        else f'name the field: `with {named} = "…"`, or `{named} = ""` if there is none',
    )


def _choice(key: tree.Expr, scope: Scope) -> _Choice | None:
    """Return where a name was chosen; None where a pack that nobody uses has a default."""
    chosen = key.span
    for _ in range(MAX_DEPTH):
        name = dotted_name(key)
        found = None if name is None else scope.find(name)
        match None if found is None else found.node:
            case tree.Let(value=value):
                assert found is not None
                key, scope = value, found.scope
            case tree.Param() as param:
                assert found is not None
                bound = value_of_param(param, found.scope)
                if bound is None:
                    return None
                if bound.is_default:
                    used = found.scope.used_at
                    return None if used is None else _Choice(span=used, parameter=param.name)
                key, scope, chosen = bound.value, bound.scope, bound.value.span
            case _:
                return _Choice(span=chosen)
    return None

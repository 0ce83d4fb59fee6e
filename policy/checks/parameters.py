"""Checks the values of a pack's parameters, and reports wrong ones where they are given."""

from __future__ import annotations

from policy.catalog import ToolSelector
from policy.checks.assembly import Unit
from policy.checks.checked import ValueSet
from policy.checks.context import CheckContext
from policy.checks.names import sets
from policy.checks.names.interpolation import SAMPLES, constant, value_of_param
from policy.checks.names.scopes import Definition, Scope
from policy.diagnostics import Label
from policy.model import Span
from policy.syntax import tree


def check_parameter(found: Definition, param: tree.Param, check: CheckContext, unit: Unit) -> None:
    """Check a parameter's value against its type, and report a wrong one where it was given."""
    if not unit.pack:
        check.report.add(
            "param-outside-pack",
            "only a pack has parameters",
            span=param.span,
            help="use `let`, or move it to a file that begins with `pack`",
        )
        return
    if param.kind in sets.SET_KINDS:
        before = check.report.errors
        _check_not_empty(param, found.scope, sets.named_set(found, check), check, before=before)
        return
    if param.kind == "tools":
        before = check.report.errors
        tools = check.tools.named(found, lenient=unit.pack)
        _check_not_empty(param, found.scope, tools, check, before=before)
        return
    bound = value_of_param(param, found.scope)
    if bound is None:
        return
    given = constant(bound.value, bound.scope, check.report)
    wanted = SAMPLES.get(param.kind)
    if not _same_kind(given, wanted):
        _report_param(param, bound.value.span, check)


def _check_not_empty(
    param: tree.Param,
    scope: Scope,
    given: ValueSet | ToolSelector | None,
    check: CheckContext,
    *,
    before: int,
) -> None:
    """Report a set that a pack needs and that is given to it without anything in it."""
    bound = scope.bound.get(param.name)
    if bound is None or scope.used_at is None or param.default is not None:
        return
    if given is not None and check.report.errors == before and _is_empty(given):
        check.report.add(
            "empty-param",
            f"{scope.title} needs {param.kind} in `{param.name}`, and there are none",
            span=bound.value.span,
            labels=(Label(span=param.span, text="needed here"),),
            help="name some, or do not use the pack: its rules about them apply to nothing",
        )


def _is_empty(given: ValueSet | ToolSelector) -> bool:
    return all(
        isinstance(part, ValueSet | ToolSelector) and _is_empty(part) for part in given.included
    )


def _same_kind(given: object, wanted: object) -> bool:
    if isinstance(given, bool) or given is None:
        return False
    if isinstance(wanted, int):
        return isinstance(given, (int, float))
    return isinstance(given, type(wanted))


def _report_param(param: tree.Param, span: Span, check: CheckContext) -> None:
    check.report.add(
        "wrong-kind",
        f"`{param.name}` takes a {param.kind}",
        span=span,
        labels=(Label(span=param.span, text="declared here"),),
        help=f"give it a {param.kind}",
    )

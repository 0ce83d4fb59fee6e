"""Literals with `${name}` filled in.

`$${` stands for the two characters `${` themselves.
"""

from __future__ import annotations

import re
from datetime import timedelta
from decimal import Decimal
from typing import Any

from policy.checks.conditions.value_types import FACT_ROOTS
from policy.checks.names.scopes import BoundParameter, Definition, Scope
from policy.checks.report import Report
from policy.diagnostics import did_you_mean
from policy.model import Span
from policy.syntax import tree

# The values of parameters without one, where a pack is checked by itself.
SAMPLES: dict[str, Any] = {
    "string": "x",
    "path": "/x",
    "host": "x.example",
    "number": 1,
    "duration": timedelta(seconds=1),
}

_MARK = re.compile(r"\$(?:\$\{|\{([^}]*)(\}?))")
_UNITS = {
    "ms": timedelta(milliseconds=1),
    "s": timedelta(seconds=1),
    "m": timedelta(minutes=1),
    "h": timedelta(hours=1),
    "d": timedelta(days=1),
    "w": timedelta(weeks=1),
}
_DEEPEST = 20


def interpolate(text: str, scope: Scope, report: Report, *, span: Span, depth: int = 0) -> str:
    """Return `text` with every `${name}` replaced by the value of `name`."""
    if "${" not in text:
        return text

    def replace(mark: re.Match[str]) -> str:
        name, closed = mark.groups()
        if name is None:
            return "${"
        if not closed:
            report.add(
                "bad-interpolation",
                "`${` without a closing `}`",
                span=span,
                help="add the `}`, or write `$${` for the two characters",
            )
            return ""
        return _named(name.strip(), scope, report, span=span, depth=depth)

    return _MARK.sub(replace, text)


def _named(name: str, scope: Scope, report: Report, *, span: Span, depth: int) -> str:
    found = scope.find(name)
    if found is None and scope.is_broken(name):
        report.excuse()
        return ""
    if found is None:
        report.add(
            "unknown-name",
            f"nothing is called `{name}`",
            span=span,
            help=_instead_of(name)
            or did_you_mean(name, scope.visible())
            or "`${name}` is replaced by a value; write `$${` for the two characters",
        )
        return ""
    value = constant_named(found, report, depth=depth + 1)
    if isinstance(value, str):
        return value
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return str(value)
    report.add(
        "bad-interpolation",
        f"`{name}` is not a string that could be inserted",
        span=span,
        help="use a `param` or `let` whose value is a string",
    )
    return ""


def _instead_of(name: str) -> str:
    """Return the help about a fact in a string, "" for another name."""
    if name == "workspace":
        return 'paths such as "src/**" begin at the workspace; the whole of it is `workspace`'
    if name in ("home", "HOME"):
        return "paths in the home folder begin with `~/`"
    if name.partition(".")[0] in FACT_ROOTS:
        return "a fact differs between calls and cannot be inserted; compare it in a condition"
    return ""


def constant_named(found: Definition, report: Report, *, depth: int = 0) -> Any:
    """Return the string, number or duration that a name means, None if it is none of these."""
    node = found.node
    if depth > _DEEPEST:
        return None
    match node:
        case tree.Let():
            return constant(node.value, found.scope, report, depth=depth)
        case tree.Param():
            bound = value_of_param(node, found.scope)
            if bound is None:
                return SAMPLES.get(node.kind)
            return constant(bound.value, bound.scope, report, depth=depth)
        case _:
            return None


def value_of_param(param: tree.Param, scope: Scope) -> BoundParameter | None:
    """Return the value of a parameter, or its default; None where there is neither."""
    bound = scope.bound.get(param.name)
    if bound is not None:
        return bound
    if param.default is None:
        return None
    return BoundParameter(param.default, scope, is_default=True)


def constant(expr: tree.Expr, scope: Scope, report: Report, *, depth: int = 0) -> Any:
    """Return the value of a literal or of a name of one; None for anything else."""
    match expr:
        case tree.Text():
            return interpolate(expr.value, scope, report, span=expr.span, depth=depth)
        case tree.Number():
            return number_value(expr, report)
        case tree.Negate(operand=tree.Number() as operand):
            return -number_value(operand, report)
        case tree.Duration():
            return duration_of(expr, report)
        case tree.Boolean():
            return expr.value
        case tree.Name() | tree.Field():
            name = dotted_name(expr)
            found = scope.find(name) if name else None
            return constant_named(found, report, depth=depth + 1) if found else None
        case _:
            return None


def dotted_name(expr: tree.Expr | tree.Nothing | tree.Anything) -> str | None:
    """Return `name` or `alias.name` of a possible definition, None for anything else."""
    match expr:
        case tree.Name():
            return expr.name
        case tree.Field():
            base = dotted_name(expr.base)
            return f"{base}.{expr.name}" if base else None
        case _:
            return None


def number_value(node: tree.Number, report: Report) -> int | float:
    """Return a number as in calls: a double, which must have exactly these digits."""
    value = node.value
    held = value if isinstance(value, int) else float(value)
    if Decimal(repr(float(held))) != value:
        report.add(
            "inexact-number",
            "this number has more digits than a number in a call can have",
            span=node.span,
            help="use at most 15 digits",
        )
    return held


def duration_of(node: tree.Duration, report: Report) -> timedelta:
    """Return a duration."""
    try:
        return node.amount * _UNITS[node.unit]
    except OverflowError:
        report.add(
            "bad-time", "this duration is too long", span=node.span, help="use a shorter duration"
        )
        return timedelta(0)

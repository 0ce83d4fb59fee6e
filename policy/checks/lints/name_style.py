"""Lint: a name that is not in lower case with underscores."""

from __future__ import annotations

from policy.checks.lints.context import LintContext
from policy.syntax import tree

_NAMED = (
    tree.ToolSet,
    tree.NamedSet,
    tree.SetFromFile,
    tree.DataTable,
    tree.Let,
    tree.Param,
)


def find(context: LintContext) -> None:
    """Report every name with a capital letter."""
    for layer in context.layers:
        for unit in layer.units:
            for statement in unit.statements:
                if isinstance(statement, _NAMED) and statement.name != statement.name.lower():
                    context.check.report.add(
                        "name-style",
                        f"`{statement.name}` has capital letters",
                        span=statement.span,
                        help="write names in lower case, with `_` between words",
                    )

"""Lint: a rule without a name, which logs and approvals can identify only by its line."""

from __future__ import annotations

from policy.checks.lints.context import LintContext
from policy.syntax import tree

_RULES = (tree.Rule, tree.KnownRule, tree.Rewrite, tree.RedactResults)


def find(context: LintContext) -> None:
    """Report every rule that has no name."""
    for layer in context.layers:
        for unit in layer.units:
            for statement in (*unit.statements, *unit.known):
                if isinstance(statement, _RULES) and statement.name is None:
                    context.check.report.add(
                        "unnamed-rule",
                        "this rule has no name",
                        span=statement.span,
                        help=(
                            "put a name before it, `like-this:`, which stays the same when lines "
                            "move"
                        ),
                    )

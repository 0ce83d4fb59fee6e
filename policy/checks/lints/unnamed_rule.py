"""Lint: a rule without a name, which logs and approvals can only call by its line."""

from __future__ import annotations

from policy.checks.lints.context import LintContext
from policy.syntax import tree

_RULES = (tree.Rule, tree.KnownRule, tree.Rewrite)


def find(scene: LintContext) -> None:
    """Say so of every rule that has no name."""
    for layer in scene.layers:
        for unit in layer.units:
            for statement in (*unit.statements, *unit.known):
                if isinstance(statement, _RULES) and statement.name is None:
                    scene.world.report.say(
                        "unnamed-rule",
                        "a rule without a name",
                        span=statement.span,
                        help="put a name before it, `like-this:`; it then keeps it when lines move",
                    )

"""Lint: a pack that would grant something, used without `granting`."""

from __future__ import annotations

from policy.checks.lints.context import LintContext
from policy.model import Verdict
from policy.syntax import tree


def find(context: LintContext) -> None:
    """Report every `use` without `granting` of a pack that has grants."""
    for layer in context.layers:
        for unit in layer.units:
            if unit.use is None or unit.grants:
                continue
            words = sorted({word for s in (*unit.statements, *unit.known) if (word := _giving(s))})
            if words:
                context.check.report.add(
                    "not-granted",
                    f"the pack's {' and '.join(words)} have no effect here",
                    span=unit.use.span,
                    help="add `granting` if the pack may allow calls in this layer",
                )


def _giving(statement: tree.Statement | tree.KnownRule) -> str | None:
    match statement:
        case tree.Rule(verdict=Verdict.ALLOW) | tree.KnownRule(verdict=Verdict.ALLOW):
            return "`allow`"
        case tree.Default():
            return "`default`"
        case tree.Delegate():
            return "`delegate`"
        case tree.Invariant(kind="assume"):
            return "`assume`"
        case _:
            return None

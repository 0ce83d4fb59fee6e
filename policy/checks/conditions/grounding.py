"""What grounds a value: a test that may only stand where it permits a call."""

from __future__ import annotations

from policy.checks.conditions.reader_state import StatementContext
from policy.diagnostics import Label
from policy.syntax import print_expr, tree


def check_grounding(
    expr: tree.Expr, context: StatementContext, *, instead: str, of_each: str
) -> None:
    """Report a position that does not permit: a value that stands nowhere would lift something.

    `instead` is the help where the position restricts, `of_each` where it selects elements.
    """
    if context.tools is None or (context.permits is True and not context.selecting):
        return
    if context.selecting:
        report_selecting(expr, context, of_each=of_each)
        return
    context.report.add(
        "grounding-restricts",
        f"`{print_expr(expr)}` may only stand where it permits a call",
        span=expr.span,
        label="this position restricts",
        labels=_through_let(context),
        help=instead,
    )


def report_selecting(expr: tree.Expr, context: StatementContext, *, of_each: str) -> None:
    """Report a test in a selection: what is selected may permit or restrict."""
    if context.tools is None:
        return
    context.report.add(
        "grounding-restricts",
        f"`{print_expr(expr)}` may only stand where it permits a call",
        span=expr.span,
        label="this selects elements",
        labels=_through_let(context),
        help=of_each,
    )


def _through_let(context: StatementContext) -> tuple[Label, ...]:
    return tuple(Label(span=let.span, text="used through this `let`") for let in context.lets[:1])

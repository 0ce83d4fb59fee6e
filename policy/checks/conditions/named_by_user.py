"""`named by user`: resolves the values, and refuses it where it would restrict."""

from __future__ import annotations

from policy.checks.checked import NamedByUser, Test
from policy.checks.conditions.reader_state import BROKEN, BROKEN_TEST, ReadValue, StatementContext
from policy.diagnostics import Label
from policy.syntax import print_expr, tree


def read_named_by_user(
    expr: tree.NamedByUser, context: StatementContext, value_of: ReadValue
) -> Test:
    """Return the test of whether values stand in what the user wrote."""
    _check_place(expr, context)
    left = value_of(expr.left, context)
    if left is BROKEN:
        return BROKEN_TEST
    if not left.type.may_be("string", "number", "list"):
        context.report.add(
            "wrong-kind",
            f"`{print_expr(expr.left)}` is {left.type}, which cannot stand in what the user wrote",
            span=expr.left.span,
            help="name a field with a string, a number, or a list of them",
        )
        return BROKEN_TEST
    return NamedByUser(left=left.value, text=context.words(expr))


def _check_place(expr: tree.NamedByUser, context: StatementContext) -> None:
    """Report a position that does not permit: not to be named would then lift a restriction."""
    if context.tools is None or (context.permits is True and not context.selecting):
        return
    shown = print_expr(expr)
    context.report.add(
        "grounding-restricts",
        f"`{shown}` may only stand where it permits a call",
        span=expr.span,
        label="this selects elements" if context.selecting else "this position restricts",
        labels=tuple(
            Label(span=let.span, text="used through this `let`") for let in context.lets[:1]
        ),
        help="write `all x in LIST: x named by user`, outside of a selection"
        if context.selecting
        else f"write `unless {shown}`, or `when not ({shown})`",
    )

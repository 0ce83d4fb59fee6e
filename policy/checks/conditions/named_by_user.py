"""`named by user`: resolves the values, and refuses it where it would restrict."""

from __future__ import annotations

from policy.checks.checked import NamedByUser, Test
from policy.checks.conditions.grounding import check_grounding
from policy.checks.conditions.reader_state import BROKEN, BROKEN_TEST, ReadValue, StatementContext
from policy.syntax import print_expr, tree


def read_named_by_user(
    expr: tree.NamedByUser, context: StatementContext, value_of: ReadValue
) -> Test:
    """Return the test of whether values stand in what the user wrote."""
    shown = print_expr(expr)
    check_grounding(
        expr,
        context,
        instead=f"write `unless {shown}`, or `when not ({shown})`",
        of_each="write `all x in LIST: x named by user`, outside of a selection",
    )
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

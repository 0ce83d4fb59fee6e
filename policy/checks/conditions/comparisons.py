"""Comparisons of two values: whether they can ever be equal, or have an order."""

from __future__ import annotations

import re

from policy.checks.checked import Comparison, Constant, NotOf, Test
from policy.checks.conditions.kept_windows import check_age
from policy.checks.conditions.missing_unit import missing_unit
from policy.checks.conditions.reader_state import BROKEN, BROKEN_TEST, ReadValue, StatementContext
from policy.checks.conditions.typed_value import TypedValue
from policy.checks.conditions.value_types import ValueType, comparable, orderable
from policy.diagnostics import did_you_mean
from policy.model import Span
from policy.syntax import print_expr, tree

_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?")


def read_comparison(expr: tree.Compare, context: StatementContext, value_of: ReadValue) -> Test:
    """Return a comparison; report values that are never equal or have no order."""
    left, right = value_of(expr.left, context), value_of(expr.right, context)
    if left is BROKEN or right is BROKEN:
        return BROKEN_TEST
    check_age(left, right, expr.right.span, context.check)
    check_age(right, left, expr.left.span, context.check)
    text = context.words(expr)
    if expr.op == "==" or expr.op == "!=":
        _check_equal(expr, left, right, context)
        equal = Comparison(op="==", left=left.value, right=right.value, text=text)
        return equal if expr.op == "==" else NotOf(test=equal, text=text)
    if not orderable(left.type, right.type):
        context.report.add(
            "wrong-kind",
            f"{left.type} and {right.type} have no order",
            span=expr.span,
            help=_one_type(expr, left.type, right.type),
        )
    return Comparison(op=expr.op, left=left.value, right=right.value, text=text)


def _check_equal(
    expr: tree.Compare, left: TypedValue, right: TypedValue, context: StatementContext
) -> None:
    check_word(left, expr.left, right, context, span=expr.right.span)
    check_word(right, expr.right, left, context, span=expr.left.span)
    if comparable(left.type, right.type):
        return
    many, one = (expr.left, expr.right) if left.type.must_be("list") else (expr.right, expr.left)
    if left.type.must_be("list") or right.type.must_be("list"):
        context.report.add(
            "list-against-value",
            f"`{print_expr(many)}` is a list, and a list never equals a single value",
            span=expr.span,
            help=f"write `{print_expr(one)} in {print_expr(many)}`",
        )
        return
    context.report.add(
        "wrong-kind",
        f"{left.type} and {right.type} are never equal",
        span=expr.span,
        help=_one_type(expr, left.type, right.type),
    )


def check_word(
    of: TypedValue, expr: tree.Expr, other: TypedValue, context: StatementContext, *, span: Span
) -> None:
    """Report a comparison of an enumerated string with a string that it can never be."""
    words = of.type.words
    word = other.value.value if isinstance(other.value, Constant) else None
    if words is None or not isinstance(word, str) or word in words:
        return
    context.report.add(
        "wrong-kind",
        f"`{print_expr(expr)}` is never `{word}`",
        span=span,
        help=did_you_mean(word, words) or f"it is one of {', '.join(f'`{one}`' for one in words)}",
    )


def _one_type(expr: tree.Compare, left: ValueType, right: ValueType) -> str:
    for operand, other in ((expr.left, right), (expr.right, left)):
        if isinstance(operand, tree.Text) and _is_literal(operand.value, other):
            return f"write it without quotes: `{operand.value}`"
    if help := missing_unit(expr.left, expr.right, (left, right)):
        return help
    if "time" in (left.names or ()) or "time" in (right.names or ()):
        return 'a string becomes a time with `time("2026-03-01T08:00:00Z")` or `date("2026-03-01")`'
    for operand, kind, other in ((expr.left, left, right), (expr.right, right, left)):
        if other.must_be("number") and (help := _beside_a_number(operand, kind)):
            return help
    return "compare values of one type: two numbers, two strings, two times or two durations"


def _beside_a_number(operand: tree.Expr, kind: ValueType) -> str:
    """Return what can be compared with a number in place of an operand of another type."""
    shown = print_expr(operand)
    if kind.must_be("object"):
        return f"compare one of its fields: `{shown}.FIELD`"
    if kind.must_be("list"):
        return f"compare its length, `length({shown})`, or its items, `any x in {shown}: x …`"
    if kind.must_be("string") and not isinstance(operand, tree.Text):
        return (
            "the tool takes a string here, and a string has no order among numbers: let its schema "
            'declare a number (`"type": "number"`), or list the strings: '
            f'`{shown} in ["5.00", "10.00"]`'
        )
    return ""


def _is_literal(text: str, kind: ValueType) -> bool:
    """Return whether a string in quotes would be a value of this type without them."""
    if kind.must_be("boolean"):
        return text in ("true", "false")
    return kind.must_be("number") and _NUMBER.fullmatch(text) is not None

"""Tests of strings: prefixes, suffixes, parts, patterns."""

from __future__ import annotations

from policy.checks.checked import LikeTest, RegexTest, Test, TextRelation
from policy.checks.conditions.reader_state import BROKEN, BROKEN_TEST, ReadValue, StatementContext
from policy.checks.conditions.typed_value import TypedValue
from policy.checks.names.interpolation import interpolate
from policy.syntax import print_expr, tree
from policy.values import Unreadable, compile_regex


def _text(expr: tree.Expr, what: str, context: StatementContext, value_of: ReadValue) -> TypedValue:
    """Read a value that must be a string."""
    read = value_of(expr, context)
    if read.type.may_be("string"):
        return read
    is_list = read.type.must_be("list")
    context.report.add(
        "list-against-value" if is_list else "wrong-kind",
        f"`{what}` tests a string, but `{print_expr(expr)}` is {read.type}",
        span=expr.span,
        help=f"write `any x in {print_expr(expr)}: x {what} …`"
        if is_list
        else "use it with a string",
    )
    return BROKEN


def read_string_relation(
    expr: tree.TextTest, context: StatementContext, value_of: ReadValue
) -> Test:
    """Return the test of how a string starts, ends, or what it contains."""
    if expr.op == "contains":
        listed = value_of(expr.left, context)
        if listed.type.must_be("list") and not isinstance(expr.right, tree.Regex):
            context.report.add(
                "list-against-value",
                f"`contains` tests a string, but `{print_expr(expr.left)}` is a list",
                span=expr.span,
                help=f"write `{print_expr(expr.right)} in {print_expr(expr.left)}`",
            )
            return BROKEN_TEST
    left = _text(expr.left, expr.op, context, value_of)
    if isinstance(expr.right, tree.Regex):
        check_regex(expr.right, context)
        return RegexTest(
            left=left.value, pattern=expr.right.pattern, whole=False, text=context.words(expr)
        )
    right = _text(expr.right, expr.op, context, value_of)
    return TextRelation(op=expr.op, left=left.value, right=right.value, text=context.words(expr))


def check_regex(regex: tree.Regex, context: StatementContext) -> None:
    """Report a regular expression that does not run in linear time."""
    found = compile_regex(regex.pattern)
    if isinstance(found, Unreadable):
        context.report.add(
            "bad-pattern",
            f"this regular expression cannot be used: {found.reason}",
            span=regex.span,
            help="regular expressions have RE2 syntax, without look-around and back-references",
        )


def read_like(expr: tree.Like, context: StatementContext, value_of: ReadValue) -> Test:
    """Return the test of a string against a glob."""
    left = _text(expr.left, "like", context, value_of)
    pattern = interpolate(expr.pattern, context.scope, context.report, span=expr.span)
    return LikeTest(left=left.value, pattern=pattern, text=context.words(expr))


def read_match(expr: tree.Matches, context: StatementContext, value_of: ReadValue) -> Test:
    """Return the test of a whole string against a regular expression."""
    left = _text(expr.left, "matches", context, value_of)
    check_regex(expr.regex, context)
    return RegexTest(
        left=left.value, pattern=expr.regex.pattern, whole=True, text=context.words(expr)
    )

"""Tests of strings: prefixes, suffixes, parts, patterns."""

from __future__ import annotations

from policy.checks.checked import LikeTest, RegexTest, Test, TextRelation
from policy.checks.conditions.reader_state import BROKEN, BROKEN_TEST, ReadValue, StatementContext
from policy.checks.conditions.typed_value import TypedValue
from policy.checks.names.interpolation import interpolate
from policy.syntax import print_expr, tree
from policy.values import Unreadable, compile_regex


def _text(expr: tree.Expr, what: str, reading: StatementContext, value_of: ReadValue) -> TypedValue:
    """Read a value that must be text."""
    read = value_of(expr, reading)
    if read.kind.may_be("text"):
        return read
    is_list = read.kind.must_be("list")
    reading.report.say(
        "list-against-value" if is_list else "wrong-kind",
        f"`{what}` asks of a text, and `{print_expr(expr)}` is {read.kind}",
        span=expr.span,
        help=f"write `any x in {print_expr(expr)}: x {what} …`" if is_list else "ask it of a text",
    )
    return BROKEN


def read_string_relation(
    expr: tree.TextTest, reading: StatementContext, value_of: ReadValue
) -> Test:
    """Return what asks how a text begins, ends, or what it contains."""
    if expr.op == "contains":
        listed = value_of(expr.left, reading)
        if listed.kind.must_be("list") and not isinstance(expr.right, tree.Regex):
            reading.report.say(
                "list-against-value",
                f"`contains` asks of a text, and `{print_expr(expr.left)}` is a list",
                span=expr.span,
                help=f"write `{print_expr(expr.right)} in {print_expr(expr.left)}`",
            )
            return BROKEN_TEST
    left = _text(expr.left, expr.op, reading, value_of)
    if isinstance(expr.right, tree.Regex):
        check_regex(expr.right, reading)
        return RegexTest(
            left=left.value, pattern=expr.right.pattern, whole=False, text=reading.words(expr)
        )
    right = _text(expr.right, expr.op, reading, value_of)
    return TextRelation(op=expr.op, left=left.value, right=right.value, text=reading.words(expr))


def check_regex(regex: tree.Regex, reading: StatementContext) -> None:
    """Say so where a pattern is none that runs in linear time."""
    found = compile_regex(regex.pattern)
    if isinstance(found, Unreadable):
        reading.report.say(
            "bad-pattern",
            f"this pattern cannot be used: {found.reason}",
            span=regex.span,
            help="patterns have RE2 syntax: no look-around and no back-references",
        )


def read_like(expr: tree.Like, reading: StatementContext, value_of: ReadValue) -> Test:
    """Return what holds a text against a pattern with stars."""
    left = _text(expr.left, "like", reading, value_of)
    pattern = interpolate(expr.pattern, reading.scope, reading.report, span=expr.span)
    return LikeTest(left=left.value, pattern=pattern, text=reading.words(expr))


def read_match(expr: tree.Matches, reading: StatementContext, value_of: ReadValue) -> Test:
    """Return what holds all of a text against a regular expression."""
    left = _text(expr.left, "matches", reading, value_of)
    check_regex(expr.regex, reading)
    return RegexTest(
        left=left.value, pattern=expr.regex.pattern, whole=True, text=reading.words(expr)
    )

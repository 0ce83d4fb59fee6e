"""Windows of the day and the week: resolves the test."""

from __future__ import annotations

from policy.checks.checked import Test, WindowTest
from policy.checks.conditions.reader_state import ReadValue, StatementContext
from policy.model import Span
from policy.syntax import print_expr, tree
from policy.values import Unreadable, parse_clock, read_zone

_DAYS: dict[str, frozenset[int]] = {
    "weekdays": frozenset(range(5)),
    "weekends": frozenset({5, 6}),
    **{
        day: frozenset({n})
        for n, day in enumerate(("mon", "tue", "wed", "thu", "fri", "sat", "sun"))
    },
}


def read_window(expr: tree.Window, context: StatementContext, value_of: ReadValue) -> Test:
    """Return the test of a time of day, on days of the week."""
    left = value_of(expr.left, context)
    if not left.type.may_be("time"):
        context.report.add(
            "wrong-kind",
            f"`within` tests a time, but `{print_expr(expr.left)}` is {left.type}",
            span=expr.left.span,
            help="write `now within …`",
        )
    zone = expr.zone or "UTC"
    found = read_zone(zone)
    if isinstance(found, Unreadable):
        context.report.add(
            "bad-time",
            found.reason,
            span=expr.span,
            help='write the name of a time zone, such as "Europe/Paris"',
        )
    start, end = (_minutes(text, expr.span, context) for text in (expr.start, expr.end))
    if start == end:
        context.report.add(
            "bad-time",
            "the window ends at the time at which it starts",
            span=expr.span,
            help="remove the window, or end it at another time",
        )
    return WindowTest(
        left=left.value,
        start=start,
        end=end,
        zone=zone,
        days=_DAYS[expr.days] if expr.days else None,
        text=context.words(expr),
    )


def _minutes(text: str, span: Span, context: StatementContext) -> int:
    """Return a time of the day in minutes; the midnight that ends a day is its next one's start."""
    found = parse_clock(text)
    if isinstance(found, Unreadable):
        context.report.add("bad-time", found.reason, span=span, help="write `08:00..18:00`")
        return 0
    return found.hour * 60 + found.minute

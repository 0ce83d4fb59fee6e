"""Windows of time over earlier calls, beside how long calls are kept."""

from __future__ import annotations

from datetime import timedelta

from policy.checks.checked import Constant, FieldOf
from policy.checks.conditions.typed_value import TypedValue
from policy.checks.context import CheckContext
from policy.model import Span

_UNITS = {
    "d": timedelta(days=1),
    "h": timedelta(hours=1),
    "m": timedelta(minutes=1),
    "s": timedelta(seconds=1),
}


def check_window(window: timedelta, span: Span, check: CheckContext) -> None:
    """Report a window that reaches beyond the time for which calls are kept."""
    kept = check.retention
    if kept is None or window <= kept:
        return
    check.report.add(
        "window-beyond-retention",
        f"this reaches back {_spelled(window)}, and earlier calls are kept for {_spelled(kept)}",
        span=span,
        help=f'set `[history] retention` in `placet.toml` to "{_setting(window)}" or more, or '
        "write a shorter time",
    )


def check_age(
    compared: TypedValue, with_value: TypedValue, span: Span, check: CheckContext
) -> None:
    """Report a comparison of the age of an earlier call with a longer time than calls are kept."""
    is_age = isinstance(compared.value, FieldOf) and compared.value.name == "age"
    if not is_age or not compared.type.must_be("duration"):
        return
    if isinstance(with_value.value, Constant) and isinstance(with_value.value.value, timedelta):
        check_window(with_value.value.value, span, check)


def _spelled(time: timedelta) -> str:
    """Return a time in the largest unit of which it is a multiple."""
    for unit, length in _UNITS.items():
        if not time % length:
            return f"{time // length}{unit}"
    return f"{time / timedelta(milliseconds=1):g}ms"


def _setting(time: timedelta) -> str:
    """Return the shortest `[history] retention` that is as long."""
    hours = -(-time // _UNITS["h"])
    return _spelled(hours * _UNITS["h"])

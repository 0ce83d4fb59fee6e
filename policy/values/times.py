"""Parses times, dates, durations and windows of the day; UTC unless another zone is given."""

from __future__ import annotations

import re
from datetime import UTC, datetime, time, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from policy.values.text import quote
from policy.values.unreadable import Unreadable

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TIME = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,9})?)?"
    r"([Zz]|[+-][0-9]{2}:[0-9]{2})?"
)
_SPAN = re.compile(r"([0-9]{1,12})(ms|s|m|h|d|w)")
_CLOCK = re.compile(r"([0-9]{2}):([0-9]{2})")
_UNITS = {
    "ms": timedelta(milliseconds=1),
    "s": timedelta(seconds=1),
    "m": timedelta(minutes=1),
    "h": timedelta(hours=1),
    "d": timedelta(days=1),
    "w": timedelta(weeks=1),
}


def parse_time(text: str) -> datetime | Unreadable:
    """Parse an RFC 3339 time as a datetime with its offset, or UTC where it names none."""
    if not _TIME.fullmatch(text):
        return Unreadable(reason=f"not a time like 2026-03-01T08:00:00Z: {quote(text)}")
    try:
        # Python takes six digits of a second at most; no rule depends on finer ones.
        moment = datetime.fromisoformat(re.sub(r"([.][0-9]{6})[0-9]+", r"\1", text.upper()))
    except ValueError:
        return Unreadable(reason=f"there is no such time: {quote(text)}")
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def parse_date(text: str) -> datetime | Unreadable:
    """Parse a date like 2026-03-01 as its first moment in UTC."""
    if not _DATE.fullmatch(text):
        return Unreadable(reason=f"not a date like 2026-03-01: {quote(text)}")
    try:
        return datetime.fromisoformat(text).replace(tzinfo=UTC)
    except ValueError:
        return Unreadable(reason=f"there is no such date: {quote(text)}")


def parse_duration(text: str) -> timedelta | Unreadable:
    """Parse a duration like `250ms`, `30s`, `10m`, `2h`, `7d` or `1w`."""
    found = _SPAN.fullmatch(text)
    if found is None:
        return Unreadable(reason=f"not a duration like 30s, 10m, 2h or 7d: {quote(text)}")
    try:
        return int(found[1]) * _UNITS[found[2]]
    except OverflowError:
        return Unreadable(reason=f"a duration that is too long: {quote(text)}")


def parse_clock(text: str) -> time | Unreadable:
    """Parse a time of the day like `08:00`; `24:00` is the midnight that ends the day."""
    found = _CLOCK.fullmatch(text)
    if found is None:
        return Unreadable(reason=f"not a time of the day like 08:00: {quote(text)}")
    hour, minute = int(found[1]), int(found[2])
    if (hour, minute) == (24, 0):
        return time(0, 0)
    if hour > 23 or minute > 59:
        return Unreadable(reason=f"there is no such time of the day: {quote(text)}")
    return time(hour, minute)


def within_window(
    now: datetime,
    start: time,
    end: time,
    *,
    zone: str = "UTC",
    days: frozenset[int] | None = None,
) -> bool | Unreadable:
    """Return whether the time in `zone` is inside the window that opens at `start`.

    `end` is exclusive; a window whose end is not after its start runs past midnight. `days` (Monday
    is 0) are those on which the window opens; None is every day.
    """
    place = read_zone(zone)
    if isinstance(place, Unreadable):
        return place
    if now.tzinfo is None:
        return Unreadable(reason="a time without a zone")
    try:
        local = now.astimezone(place)
    except (OverflowError, ValueError):
        return Unreadable(reason="a time beyond the calendar")
    clock = local.time().replace(tzinfo=None)
    opened = local.weekday()
    if start < end:
        inside = start <= clock < end
    else:
        inside = clock >= start or clock < end
        if clock < start:
            opened = (opened - 1) % 7
    return inside and (days is None or opened in days)


@lru_cache(maxsize=256)
def read_zone(name: str) -> ZoneInfo | Unreadable:
    """Parse the name of a time zone like `Europe/Paris`."""
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return Unreadable(reason=f"no such time zone: {quote(name)}")

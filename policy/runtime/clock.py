"""The clock, passed in as a parameter so that tests can control the time."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """Returns the current time with its zone."""

    def __call__(self) -> datetime:
        """Return the current time."""
        ...


def utc_now() -> datetime:
    """Return the current time in UTC."""
    return datetime.now(UTC)


def seconds_until(end: datetime, now: datetime) -> float:
    """Return the seconds from `now` to `end`; an `end` without a zone is in UTC."""
    return ((end if end.tzinfo is not None else end.replace(tzinfo=UTC)) - now).total_seconds()


def is_past(end: datetime | None, now: datetime) -> bool:
    """Return whether a time has passed; None never passes."""
    return end is not None and seconds_until(end, now) <= 0

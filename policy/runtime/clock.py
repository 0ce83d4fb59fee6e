"""The time, passed in wherever it matters, so that tests can stop it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """Tells the time, with its zone."""

    def __call__(self) -> datetime:
        """Return the time now."""
        ...


def utc_now() -> datetime:
    """Return the time now, in UTC."""
    return datetime.now(UTC)


def seconds_until(end: datetime, now: datetime) -> float:
    """Return how long it is from `now` to a time; one without a zone is in UTC."""
    return ((end if end.tzinfo is not None else end.replace(tzinfo=UTC)) - now).total_seconds()


def is_past(end: datetime | None, now: datetime) -> bool:
    """Tell whether a time has come; None never comes."""
    return end is not None and seconds_until(end, now) <= 0

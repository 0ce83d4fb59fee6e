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

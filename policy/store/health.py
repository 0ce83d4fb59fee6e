"""The health of a store: one word, and the details as JSON."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from policy.store.freezer import Freezing
from policy.store.status import Status

# `down`: nothing is in force, so everything is denied.
Health: TypeAlias = Literal["up", "stale", "frozen", "down"]


def health_of(status: Status, freezing: Freezing) -> Health:
    """Return the health; of several problems, the one that stops most."""
    if status.generation is None:
        return "down"
    if freezing:
        return "frozen"
    return "stale" if status.stale else "up"


def health_record(status: Status, freezing: Freezing) -> dict[str, Any]:
    """Return all details as JSON."""
    force, since = status.generation, status.stale_since
    return {
        "state": health_of(status, freezing),
        "generation": None if force is None else {"number": force.number, "digest": force.digest},
        "stale_since": None if since is None else since.isoformat(),
        "because": status.because,
        "checked_at": status.checked_at.isoformat(),
        "loosening": None if status.loosening is None else status.loosening.as_json(),
        "freezes": [one.as_json() for one in freezing.freezes],
    }

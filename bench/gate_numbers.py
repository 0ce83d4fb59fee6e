"""Accepted numbers and new ones in; what grew, what shrank and what is not known, out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

# Counts by what is counted, by workload: `{"a decision, full 10": {"opcodes": 300.0, …}, …}`.
Numbers: TypeAlias = Mapping[str, Mapping[str, float]]

# Counts do not waver. This leaves room for what hardly matters, and for another patch release.
TOLERANCE = 0.03
# What shrinks by so much should be accepted, or it can be lost again unseen.
GAIN = 0.10
# Less than this may come and go with a tolerance of a few hundredths of something small.
_LEAST = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One count that is no longer what was accepted."""

    workload: str
    what: str
    before: float
    now: float

    def __str__(self) -> str:
        percent = 100 * (self.now - self.before) / self.before if self.before else float("inf")
        return f"{self.workload}: {self.before:g} {self.what}, now {self.now:g} ({percent:+.1f} %)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """What came of a comparison; `unknown` are workloads of one side alone."""

    grown: tuple[Change, ...]
    shrunk: tuple[Change, ...]
    unknown: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """Whether nothing grew, and all that was accepted was counted."""
        return not self.grown and not self.unknown


def compare(accepted: Numbers, now: Numbers) -> Compared:
    """Return how the numbers differ from the accepted ones."""
    changes = [
        Change(workload=workload, what=what, before=before, now=now[workload][what])
        for workload, counts in accepted.items()
        if workload in now
        for what, before in counts.items()
        if what in now[workload]
    ]
    return Compared(
        grown=tuple(change for change in changes if _grew(change)),
        shrunk=tuple(c for c in changes if c.now < c.before * (1 - GAIN) - _LEAST),
        unknown=tuple(sorted(set(_keys(accepted)) ^ set(_keys(now)))),
    )


def _grew(change: Change) -> bool:
    return change.now > change.before * (1 + TOLERANCE) + _LEAST


def _keys(numbers: Numbers) -> list[str]:
    return [f"{workload}: {what}" for workload, counts in numbers.items() for what in counts]

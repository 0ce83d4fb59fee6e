"""How much is measured, and how progress is told."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from time import monotonic


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """Sizes of policies, rounds that the subjects take in turn, and seconds of each round.

    `flat` is the size that is held against the smallest; `peers_up_to` the largest at which an
    engine that looks at every rule is still asked. `loads` and `starts` count new processes.
    """

    sizes: tuple[int, ...] = (10, 100, 1_000, 10_000)
    skewed: tuple[int, ...] = (10, 100, 1_000, 10_000)
    basic: tuple[int, ...] = (10, 100, 1_000)
    verbs: tuple[int, ...] = (10, 100, 1_000)
    flat: int = 100_000
    loaded: tuple[int, ...] = (10, 100, 1_000, 10_000, 100_000)
    edited: tuple[tuple[int, int], ...] = ((100, 1), (1_000, 10), (10_000, 100))
    rounds: int = 5
    seconds: float = 0.15
    check_seconds: float = 3.0
    loads: int = 3
    starts: int = 7
    streams: float = 8.0


QUICK = Effort(
    sizes=(10, 100),
    skewed=(100,),
    basic=(10,),
    verbs=(10,),
    flat=1_000,
    loaded=(10, 100),
    edited=((100, 1), (200, 2)),
    rounds=2,
    seconds=0.05,
    check_seconds=0.4,
    loads=1,
    starts=1,
    streams=2.0,
)

_BEGAN = monotonic()


def tell(what: str) -> None:
    """Say on standard error what is being measured, and how long it has taken so far."""
    print(f"bench: {monotonic() - _BEGAN:4.0f} s  {what}", file=sys.stderr, flush=True)

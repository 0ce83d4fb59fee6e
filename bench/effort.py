"""How much is measured, and how progress is told."""

from __future__ import annotations

import sys
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """Sizes of policies, rounds that the subjects take in turn, and seconds of each round."""

    sizes: tuple[int, ...] = (10, 100, 1_000, 10_000)
    skewed: tuple[int, ...] = (10, 100, 1_000)
    rounds: int = 5
    seconds: float = 0.25
    starts: int = 5


QUICK = Effort(sizes=(10, 100), skewed=(10,), rounds=2, seconds=0.1, starts=2)


def tell(what: str) -> None:
    """Say on standard error what is being measured."""
    print(f"bench: {what}", file=sys.stderr, flush=True)

"""Calls in, nanoseconds out; rounds of nanoseconds in, medians and ratios out."""

from __future__ import annotations

import gc
import statistics
from collections.abc import Callable, Iterator, Sequence
from itertools import cycle
from time import perf_counter_ns
from typing import Any, TypeAlias

# The nanoseconds of each call, by what was called.
Round: TypeAlias = dict[str, list[int]]

# About what `perf_counter_ns` itself adds to each: 50 ns.
_MOST = 3_000


def timed(do: Callable[[], Any]) -> int:
    """Return how long one call takes, in nanoseconds."""
    before = perf_counter_ns()
    do()
    return perf_counter_ns() - before


def per_call(
    do: Callable[[Any], Any], items: Iterator[Any], *, seconds: float, most: int = _MOST
) -> list[int]:
    """Return how long `do` takes with one item after the other, until the time is up."""
    gc.collect()
    end = perf_counter_ns() + int(seconds * 1e9)
    taken: list[int] = []
    for item in items:
        before = perf_counter_ns()
        do(item)
        after = perf_counter_ns()
        taken.append(after - before)
        if after > end or len(taken) == most:
            break
    return taken


def going_round(items: Sequence[Any]) -> Iterator[Any]:
    """Yield the items again and again, so that a slow engine goes on where it stopped."""
    return cycle(items)


def median(taken: Sequence[float]) -> float:
    """Return the middle value."""
    return statistics.median(taken)


def p99(taken: Sequence[float]) -> float:
    """Return the value that one in a hundred exceeds."""
    ordered = sorted(taken)
    return ordered[min(len(ordered) - 1, int(0.99 * len(ordered)))]


def ratio(
    rounds: Sequence[Sequence[float]],
    of: Sequence[Sequence[float]],
    *,
    by: Callable[[Sequence[float]], float] = median,
) -> float | None:
    """Return the median over the rounds of how many times longer `rounds` take than `of`.

    Both ran in turn, so that what else the machine did fell on both.
    """
    pairs = [(by(a), by(b)) for a, b in zip(rounds, of, strict=False) if a and b]
    return median([a / b for a, b in pairs]) if pairs else None

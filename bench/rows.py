"""Rounds of nanoseconds in; the rows of tables, lines of charts and figures for goals out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from bench.timing import median, p99, ratio

# The engines that every table is compared with.
PEERS = ("cedarpy", "cel-expr-python")
# What an engine of this kind takes in Python at the least; see `adapters/floor.py`.
FLOOR = "floor"
BESIDE = (FLOOR, *PEERS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line: `engine` doing `what` at `scale` (a workload's size, or empty).

    Times are in nanoseconds; `rounds` are the medians of each. `times` says how many times longer
    it took than each peer did at the same scale.
    """

    scale: str
    engine: str
    what: str
    median: float
    p99: float
    count: int
    rounds: tuple[float, ...]
    times: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows under a title, and what a reader must know of them. `unit` is `us`, `ms` or `MB`.

    `beside` names what the rows' times are compared with, a column each.
    """

    title: str
    note: str
    unit: str
    rows: tuple[Row, ...]
    beside: tuple[str, ...] = PEERS


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """Lines against the number of rules, both axes logarithmic; `key` names the file.

    `lines` are points by what is drawn, in the order of the legend.
    """

    key: str
    title: str
    unit: str
    lines: Mapping[str, Sequence[tuple[float, float]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """How many of an engine's verdicts were compared, and those that are wrong."""

    scale: str
    engine: str
    compared: int
    wrong: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What one part of the measurements found; `figures` are single numbers for the goals."""

    tables: tuple[Table, ...] = ()
    charts: tuple[Chart, ...] = ()
    checks: tuple[Checked, ...] = ()
    figures: Mapping[str, float] = field(default_factory=dict)


Taken = Sequence[Sequence[float]]


def row(
    taken: Taken,
    *,
    engine: str,
    what: str,
    scale: str = "",
    against: Mapping[str, Taken],
) -> Row:
    """Return the row of all rounds of one thing; `against` are the peers' rounds beside it."""
    every = [one for round_ in taken for one in round_]
    times = {peer: ratio(taken, rounds) for peer, rounds in against.items()}
    return Row(
        scale=scale,
        engine=engine,
        what=what,
        median=median(every),
        p99=p99(every),
        count=len(every),
        rounds=tuple(median(round_) for round_ in taken),
        times={peer: found for peer, found in times.items() if found is not None},
    )

"""What a call costs besides its decision: admission, the layers around a handler, and reloads."""

from __future__ import annotations

from bench.effort import Effort, tell
from bench.process import in_turn, processes
from bench.rows import FLOOR, Part, Row, Table, row
from bench.subjects.deciding import DECIDE
from bench.subjects.enforcing import LAYERS, WRAPPERS
from bench.subjects.serving import IDLE, RELOADING, UNPAUSED
from bench.timing import median, p99, ratio

_ADMITTED = (100, 10_000)
# Sets in force a second, of five that are written, below which the round tells nothing.
_ENOUGH = 4.0


def measure(effort: Effort) -> Part:
    """Return the tables of admission, of the layers and of calls while rules change."""
    parts = (_admitting(effort), _enforcing(effort), _serving(effort))
    return Part(
        tables=tuple(table for part in parts for table in part.tables),
        figures={name: value for part in parts for name, value in part.figures.items()},
    )


def _admitting(effort: Effort) -> Part:
    rows: list[Row] = []
    figures: dict[str, float] = {}
    for n in (n for n in _ADMITTED if n <= max(effort.sizes)):
        scale = f"{n // 5:,} tools"
        tell(f"admission: {scale}")
        floor = ("deciding", {"name": FLOOR, "profile": "full", "n": n})
        with processes({"placet": ("admitting", {"n": n}), FLOOR: floor}) as running:
            running[FLOOR].ask("load")
            # Every tool is called, so that none is compiled while time is taken.
            running[FLOOR].ask("check", seconds=90.0)
            found = in_turn(running, rounds=effort.rounds, seconds=effort.seconds)
        against = {FLOOR: found[FLOOR][DECIDE]}
        for what, rounds in found["placet"].items():
            rows.append(row(rounds, engine="placet", what=what, scale=scale, against=against))
            figures[f"admission, {what}, {scale} µs"] = _microseconds(rounds)
    table = Table(
        title="Admission alone",
        note="The workload's raw inputs (4 arguments, 300 characters) made into calls: strict "
        "JSON, the tool's schema, defaults, frozen. Beside it, a whole decision of the floor.",
        unit="us",
        rows=tuple(rows),
        beside=(FLOOR,),
    )
    return Part(tables=(table,), figures=figures)


def _enforcing(effort: Effort) -> Part:
    tell("layers: an empty tool behind the five layers")
    with processes({"placet": ("enforcing", {})}) as running:
        found = in_turn(running, rounds=effort.rounds, seconds=effort.seconds * 4)["placet"]
    against = {WRAPPERS: found[WRAPPERS]}
    rows = [
        row(rounds, engine="placet", what=what, against=against) for what, rounds in found.items()
    ]
    through = _microseconds(found[LAYERS])
    figures = {
        "layers ÷ wrappers": ratio(found[LAYERS], found[WRAPPERS]) or 0.0,
        "layers µs": through,
        "calls a second": 1e6 / through,
    }
    table = Table(
        title="The layers around a handler",
        note="One rule, one tool whose handler only counts. The five layers judge, ask nobody, "
        "watch the time and hand the handler an input of its own; the record goes to memory. "
        "Beside them five coroutines that only await the next one, which is what five layers cost "
        "at least. A limit per session counts each call, in memory or in an SQLite file, which "
        "keeps its history as well. A tool that does not say what its texts are costs a look at "
        "the disk: each may "
        "be a path to what no tool may write. A thousand questions that wait, and are then "
        "answered, are timed as one and divided.",
        unit="us",
        rows=tuple(rows),
        beside=(WRAPPERS,),
    )
    return Part(tables=(table,), figures=figures)


def _serving(effort: Effort) -> Part:
    tell("calls while rules change")
    with processes({"placet": ("serving", {})}) as running:
        rounds = max(2, effort.rounds // 2)
        found = in_turn(running, rounds=rounds, seconds=effort.streams)["placet"]
    timed = (IDLE, RELOADING, IDLE + UNPAUSED, RELOADING + UNPAUSED)
    against = {IDLE: found[IDLE]}
    rows = [row(found[what], engine="placet", what=what, against=against) for what in timed]
    stall = _most(found["stalls"])
    typical = median([max(each) for each in found["stalls"]]) / 1e6
    in_force = _least(found["reloads"]) / 1e9
    unpaused = _least(found["reloads" + UNPAUSED]) / 1e9
    slower = ratio(found[RELOADING + UNPAUSED], found[IDLE + UNPAUSED], by=p99) or 0.0
    figures = {"reloads a second": in_force}
    if in_force >= _ENOUGH:
        # With fewer, nothing was shown of calls while rules change.
        figures |= {
            "reloading p99 ÷ idle": ratio(found[RELOADING], found[IDLE], by=p99) or 0.0,
            "longest stall ms": stall / 1e6,
            "typical stall ms": typical,
        }
    table = Table(
        title="Calls while rules change",
        note="Calls through all layers, one after the other, under 1,000 rules in ten files that "
        "a store watches in the same process; nobody edits them, or somebody replaces one rule "
        "five times a second from another process. After 30 calls there is nothing to do for a "
        "millisecond. Of the rounds with edits, the longest that the event loop stood still was "
        f"{stall / 1e6:.1f} ms, in the median round {typical:.1f} ms, of those without "
        f"{_most(found['quiet stalls']) / 1e6:.1f} ms; in each round at least {in_force:.1f} sets "
        "a second came in force. Where calls leave no pause at all, the thread that reads the "
        "files gets so little of the interpreter that some edits come in force together with the "
        f"next: at least {unpaused:.1f} sets a second, the 99th percentile {slower:.1f} times that "
        f"without edits, and no longer stall than {_most(found['stalls' + UNPAUSED]) / 1e6:.1f} "
        "ms.",
        unit="us",
        rows=tuple(rows),
        beside=(IDLE,),
    )
    return Part(tables=(table,), figures=figures)


def _most(rounds: list[list[int]]) -> int:
    return max(one for each in rounds for one in each)


def _least(rounds: list[list[int]]) -> int:
    return min(one for each in rounds for one in each)


def _microseconds(rounds: list[list[int]]) -> float:
    return median([one for taken in rounds for one in taken]) / 1e3

"""Loading by the number of rules: a new process each time; how long, and how much memory."""

from __future__ import annotations

from collections.abc import Mapping

from bench.effort import Effort, tell
from bench.process import Process
from bench.rows import PEERS, Chart, Part, Row, Table, row
from bench.timing import median, ratio

_PLACET = "placet"
# Beyond this, compiling one expression a tool takes minutes, and tells nothing new.
_MOST_CEL = 10_000
_FEW, _ONE = 3, 1
# Calling every tool of a larger set says nothing new. Where all rules are looked at, all are
# touched by any call.
_MOST_CALLED = 10_000
_CALLS = {"cedarpy": 10}

Found = dict[str, dict[str, list[list[float]]]]


def measure(effort: Effort) -> Part:
    """Return the tables and charts of loading and of memory."""
    loads: list[Row] = []
    sizes: list[Row] = []
    figures: dict[str, float] = {}
    for n in effort.loaded:
        found = _measured(n, rounds=_rounds(n, effort))
        loads += _rows(found, n, {"load": "load", "decided": "load and decide"})
        sizes += _rows(found, n, {"megabytes": "after the load", "called": "every tool called"})
        figures |= _figures(found, n)
    figures |= _linear(loads, effort)
    tables = (
        Table(
            title="Loading a set of rules",
            note="From files to something that decides, in a new process that has loaded two other "
            "rules before: for Placet a folder with a hundred rules a file, with type checks, "
            "lints and tests; for cedarpy `PolicySet.from_str` of a text; for CEL `compile` of "
            "each tool's expression. CEL is left out at 100,000.",
            unit="ms",
            rows=tuple(loads),
        ),
        Table(
            title="Memory",
            note="How much more memory the process holds than before, in megabytes: after the "
            "load and one decision, and after every tool was called once (with cedarpy after "
            "ten calls; beyond 10,000 rules not tried). What the allocator keeps of the load "
            "itself is in it.",
            unit="MB",
            rows=tuple(sizes),
        ),
    )
    charts = (
        _chart("loading", "Loading, and reloading after one edit", loads, "load and decide", "ms"),
        _chart("memory", "Memory after a load", sizes, "after the load", "MB"),
    )
    return Part(tables=tables, charts=charts, figures=figures)


def _rounds(n: int, effort: Effort) -> int:
    return min(effort.loads, effort.loads if n <= 1_000 else _FEW if n <= 10_000 else _ONE)


def _measured(n: int, *, rounds: int) -> Found:
    found: Found = {}
    names = [_PLACET, *(peer for peer in PEERS if peer == "cedarpy" or n <= _MOST_CEL)]
    for number in range(rounds):
        for name in names:
            tell(f"loading: {n:,} rules, {name}, {number + 1} of {rounds}")
            for what, value in _loaded(n, name).items():
                found.setdefault(name, {}).setdefault(what, []).append([value])
    return found


def _loaded(n: int, name: str) -> dict[str, float]:
    process = Process("loading", {"n": n, "name": name})
    try:
        values: dict[str, float] = process.ask("load", timeout=900)
        if n <= _MOST_CALLED:
            most = _CALLS.get(name, n)
            values["called"] = process.ask("call_all", timeout=900, most=most)
    finally:
        process.close()
    return values


def _rows(found: Found, n: int, whats: Mapping[str, str]) -> list[Row]:
    """Return a row for each engine and value; megabytes are kept as nanoseconds are: bare."""
    rows = []
    for key, values in found.items():
        for what, said in whats.items():
            if what not in values:
                continue
            against = {peer: found[peer][what] for peer in PEERS if peer in found}
            taken = values[what]
            rows.append(row(taken, engine=key, what=said, scale=f"{n:,}", against=against))
    return rows


def _figures(found: Found, n: int) -> dict[str, float]:
    cedar = found["cedarpy"]
    ours = found[_PLACET]
    figures = {f"load {n:,} ÷ cedarpy": ratio(ours["decided"], cedar["load"]) or 0.0}
    figures[f"memory {n:,} ÷ cedarpy"] = ratio(ours["megabytes"], cedar["megabytes"]) or 0.0
    figures[f"memory {n:,} MB"] = median([one for taken in ours["megabytes"] for one in taken])
    if "called" in ours:
        called = [one for taken in ours["called"] for one in taken]
        figures[f"memory {n:,} called MB"] = median(called)
    return figures


def _linear(loads: list[Row], effort: Effort) -> dict[str, float]:
    """Return how many times longer a rule takes in the largest set than in the one before it."""
    took = {one.scale: one.median for one in loads if one.engine == _PLACET and one.what == "load"}
    before, largest = sorted(effort.loaded)[-2:]
    each = took[f"{largest:,}"] / largest / (took[f"{before:,}"] / before)
    return {"a rule's load, largest ÷ before": each}


def _chart(key: str, title: str, rows: list[Row], what: str, unit: str) -> Chart:
    lines: dict[str, list[tuple[float, float]]] = {}
    per = 1e6 if unit == "ms" else 1.0
    for one in rows:
        if one.what == what:
            point = (float(one.scale.replace(",", "")), one.median / per)
            lines.setdefault(one.engine, []).append(point)
    return Chart(key=key, title=title, unit=unit, lines=lines)

"""One rule of many edited: from the save to its effect, beside loading everything anew."""

from __future__ import annotations

from bench.effort import Effort, tell
from bench.process import Process, processes
from bench.rows import Chart, Part, Row, Table, row
from bench.timing import median, ratio

COLD = "loading it all"
_WHATS = {
    "reload": "save to in force, reloaded explicitly",
    "event": "save to the watcher's event",
    "watched": "save to in force, watched",
}


def measure(effort: Effort) -> Part:
    """Return the table and the line of reloading."""
    rows: list[Row] = []
    figures: dict[str, float] = {}
    points: list[tuple[float, float]] = []
    for n, files in effort.edited:
        found = _measured(n, files, rounds=effort.loads)
        scale = f"{n:,} in {files}"
        for what, taken in found.items():
            said = _WHATS.get(what, what)
            against = {COLD: found[COLD]}
            rows.append(row(taken, engine="placet", what=said, scale=scale, against=against))
            figures[f"{what} {n:,} ms"] = median([one for each in taken for one in each]) / 1e6
        figures[f"reload {n:,} ÷ load"] = ratio(found["reload"], found[COLD]) or 0.0
        points.append((n, figures[f"reload {n:,} ms"]))
    table = Table(
        title="From a save to its effect",
        note="One rule of the set becomes another one, and the end is the first decision by it. "
        "`reloaded explicitly` is `PolicyStore.reload` right after the save; `watched` waits for "
        "the watcher, whose event alone, on a folder of the same kind, is apart (up to 50 ms of it "
        "wait for quiet). Beside them a new process loads the same folder for the first time.",
        unit="ms",
        rows=tuple(rows),
        beside=(COLD,),
    )
    line = Chart(key="loading", title="", unit="ms", lines={"placet, one rule edited": points})
    return Part(tables=(table,), charts=(line,), figures=figures)


def _measured(n: int, files: int, *, rounds: int) -> dict[str, list[list[int]]]:
    tell(f"editing: {n:,} rules in {files} files, loading")
    found: dict[str, list[list[int]]] = {what: [] for what in (*_WHATS, COLD)}
    with processes({"placet": ("editing", {"n": n, "files": files})}) as running:
        # Its constructor loads twice.
        running["placet"].ask("round", timeout=900, seconds=0, saves=1)
        for number in range(rounds):
            tell(f"editing: {n:,} rules in {files} files, {number + 1} of {rounds}")
            taken = running["placet"].ask("round", timeout=600, seconds=0)
            for what, nanoseconds in taken.items():
                found[what].append(nanoseconds)
            if number < 3:
                found[COLD].append([_cold(n)])
    return found


def _cold(n: int) -> int:
    process = Process("loading", {"name": "placet", "n": n})
    try:
        return int(process.ask("load", timeout=900)["decided"])
    finally:
        process.close()

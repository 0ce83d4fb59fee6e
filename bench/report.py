"""Tables in; Markdown for people and JSON for programs out."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from importlib.metadata import version
from typing import Any

from bench.decisions import Checked
from bench.rows import PEERS, Row, Table

# Microseconds of the median decision, profile `full`, by the number of rules: what a Python engine
# that does all this can reach, as prototypes measured on an idle machine of the same kind.
_TARGETS = {10: 2.0, 100: 2.0, 1_000: 2.5, 10_000: 4.0}
# How many times faster than cedarpy on the same rules; these hold whatever the machine is.
_FASTER = {100: 50, 1_000: 300}
_PER_UNIT = {"us": 1e3, "ms": 1e6}
_UNITS = {"us": "µs", "ms": "ms"}


def markdown(tables: Sequence[Table], checks: Sequence[Checked], *, about: dict[str, Any]) -> str:
    """Return the whole report."""
    blocks = [_about(about), *(_table(table) for table in tables)]
    blocks += [_agreement(checks), _targets(tables)]
    return "\n\n".join(blocks) + "\n"


def as_json(
    tables: Sequence[Table], checks: Sequence[Checked], *, about: dict[str, Any]
) -> dict[str, Any]:
    """Return the report as JSON values; times are in nanoseconds."""
    return {
        "about": about,
        "tables": [asdict(table) for table in tables],
        "checks": [asdict(check) for check in checks],
    }


def machine(day: str) -> dict[str, Any]:
    """Return when and on what kind of machine this is measured."""
    packages = ("placet", *PEERS)
    return {
        "day": day,
        "python": platform.python_version(),
        "implementation": platform.python_implementation(),
        "machine": platform.machine(),
        "system": platform.system(),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None,
        "versions": {package: version(package) for package in packages},
        "optimised": sys.flags.optimize > 0,
    }


def _about(about: dict[str, Any]) -> str:
    versions = ", ".join(f"{name} {number}" for name, number in about["versions"].items())
    return (
        f"Measured on {about['day']}: {about['implementation']} {about['python']}, "
        f"{about['system']} {about['machine']}, {about['cores']} cores, "
        f"load average {about['load']} when it began; {versions}."
    )


def _table(table: Table) -> str:
    has_scale = any(row.scale for row in table.rows)
    unit = _UNITS[table.unit]
    head = ["scale"] if has_scale else []
    head += [
        "engine",
        "what",
        f"median {unit}",
        f"p99 {unit}",
        *(f"÷ {one}" for one in table.beside),
    ]
    words = len(head) - 2 - len(table.beside)
    lines = [_line(head), _line(["---"] * words + ["--:"] * (len(head) - words))]
    lines += [_line(_cells(row, table, has_scale=has_scale)) for row in table.rows]
    return f"### {table.title}\n\n{table.note}\n\n" + "\n".join(lines)


def _cells(row: Row, table: Table, *, has_scale: bool) -> Iterator[str]:
    unit = table.unit
    if has_scale:
        yield row.scale
    yield f"**{row.engine}**" if row.engine == "placet" else row.engine
    yield row.what
    yield _number(row.median / _PER_UNIT[unit])
    yield _number(row.p99 / _PER_UNIT[unit]) if row.count >= 100 else "–"
    for one in table.beside:
        yield _number(row.times[one]) if one in row.times else "–"


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _number(value: float) -> str:
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}" if value >= 0.1 else f"{value:.2g}"


def _agreement(checks: Sequence[Checked]) -> str:
    lines = ["### Agreement", ""]
    compared = sum(check.compared for check in checks)
    wrong = [check for check in checks if check.wrong]
    lines.append(
        f"{compared:,} verdicts were compared with a slow and obvious reading of the same rules; "
        f"{sum(len(check.wrong) for check in checks)} differ."
    )
    lines += [
        f"* {check.engine}, {check.scale}: {len(check.wrong)} of {check.compared}, "
        f"for one: `{check.wrong[0]}`"
        for check in wrong
    ]
    return "\n".join(lines)


def _targets(tables: Sequence[Table]) -> str:
    ours = {
        row.scale: row
        for table in tables
        for row in table.rows
        if table.title == "One decision" and row.engine == "placet" and row.what == "decide"
    }
    lines = [_line(["rules", "target µs", "median µs", "off by"]), _line(["--:"] * 4)]
    for n, target in _TARGETS.items():
        row = ours.get(f"full, {n:,}")
        if row is not None:
            reached = row.median / 1e3
            off = f"{reached / target:.0f} times"
            lines.append(_line([f"{n:,}", f"{target}", _number(reached), off]))
    sentences = []
    for n, factor in _FASTER.items():
        row = ours.get(f"full, {n:,}")
        if row is not None and "cedarpy" in row.times:
            sentences.append(
                f"Against cedarpy at {n:,} rules the target is {factor} times faster; "
                f"it is {_number(1 / row.times['cedarpy'])} times."
            )
    return "### Against the targets\n\n" + "\n".join(lines) + "\n\n" + " ".join(sentences)

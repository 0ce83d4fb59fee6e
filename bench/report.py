"""Tables in; Markdown for people and JSON for programs out."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

from bench.rows import PEERS, Checked, Part, Row, Table

_PER_UNIT = {"us": 1e3, "ms": 1e6, "MB": 1.0}
_UNITS = {"us": "µs", "ms": "ms", "MB": "MB"}
_CPU = Path("/proc/cpuinfo")


def as_json(part: Part, *, about: dict[str, Any]) -> dict[str, Any]:
    """Return everything as JSON values; times are in nanoseconds."""
    return {
        "about": about,
        "figures": dict(part.figures),
        "tables": [asdict(table) for table in part.tables],
        "checks": [asdict(check) for check in part.checks],
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
        "processor": _processor(),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None,
        "versions": {package: version(package) for package in packages},
        "optimised": sys.flags.optimize > 0,
    }


def _processor() -> str:
    """Return what the processor calls itself, where it can be read."""
    lines = _CPU.read_text().splitlines() if _CPU.exists() else []
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.processor() or "an unnamed processor"


def about_machine(about: dict[str, Any]) -> str:
    """Return when, where and with which versions this was measured."""
    versions = ", ".join(f"{name} {number}" for name, number in about["versions"].items())
    return (
        f"Measured on {about['day']}: {about['implementation']} {about['python']}, "
        f"{about['system']} {about['machine']}, {about['processor']}, {about['cores']} cores, "
        f"load average {about['load']} when it began; {versions}."
    )


def table_text(table: Table) -> str:
    """Return a table under its title, with what must be known of it."""
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
    yield number(row.median / _PER_UNIT[unit])
    yield number(row.p99 / _PER_UNIT[unit]) if row.count >= 100 else "–"
    for one in table.beside:
        yield number(row.times[one]) if one in row.times else "–"


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def number(value: float) -> str:
    """Return a number to three digits or so."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}" if value >= 0.1 else f"{value:.2g}"


def agreement(checks: Sequence[Checked]) -> str:
    """Return how many verdicts were compared, and those that are wrong."""
    compared = sum(check.compared for check in checks)
    wrong = [check for check in checks if check.wrong]
    lines = [
        f"{compared:,} verdicts were compared with a slow and obvious reading of the same rules; "
        f"{sum(len(check.wrong) for check in checks)} differ."
    ]
    lines += [
        f"* {check.engine}, {check.scale}: {len(check.wrong)} of {check.compared}, "
        f"for one: `{check.wrong[0]}`"
        for check in wrong
    ]
    return "\n".join(lines)

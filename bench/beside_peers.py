"""Run Placet in another harness of engines: `python -m bench.beside_peers FOLDER`.

The folder holds `bench.py`, `worker.py`, `workload.py` and `adapters/`, each an engine; it is
copied, our adapter is put into the copy, and nothing is written into the folder itself. The table
goes to standard output and, with a plot, to `docs/performance.md`, unless `--quick`.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from bench.effort import tell
from bench.page import PEERS_MARKS, PLOTS, write
from bench.report import number
from bench.rows import Chart
from bench.timing import median

_ROOT = Path(__file__).resolve().parents[1]
_ADAPTER = Path(__file__).parent / "peers_adapter.py"
_OURS, _RAW, _FLOOR = "ours", "ours_raw", "floor_codegen_full"
_ENGINES = (
    _OURS, _RAW, _FLOOR, "floor_codegen_index", "floor_codegen_const", "cedarpy_flat",
    "cedarpy_sharded", "cel_cpp",
)  # fmt: skip
_BESIDE = (_FLOOR, "floor_codegen_index", "cedarpy_flat", "cel_cpp")
_PROFILES = ("full", "basic", "skew")
_SIZES = (10, 100, 1_000, 10_000)
_LARGEST = 100_000
_HEAD = ("profile, rules", "engine", "load s", "MB", "median µs", "p99 µs")

Run = Mapping[str, Any]


def main() -> int:
    """Run the harness and tell; return the exit status, 1 where a verdict of ours differs."""
    parser = argparse.ArgumentParser(prog="python -m bench.beside_peers", description=__doc__)
    parser.add_argument("folder", type=Path, help="the harness; only read")
    parser.add_argument("--quick", action="store_true", help="two sizes, kept nowhere")
    parser.add_argument("--engines", nargs="+", default=_ENGINES, help="adapters, ours among them")
    chosen = parser.parse_args()
    sizes = _SIZES[:2] if chosen.quick else _SIZES
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, "peers")
        copy_with_ours(chosen.folder, place)
        many = (*_PROFILES, "-n", *map(str, sizes))
        runs, names = _run(place, what=many, engines=chosen.engines, quick=chosen.quick)
        if not chosen.quick:
            # The other engines stop before that.
            largest = ("full", "-n", str(_LARGEST))
            runs += _run(place, what=largest, engines=[_OURS], quick=False)[0]
    text = text_of(runs, names)
    print(text)
    if not chosen.quick:
        _keep(runs, names, text)
    wrong = [run for run in runs if run["engines"].get(_OURS, {}).get("disagree", 1)]
    for run in wrong:
        print(f"{_scale(run)}: {run['engines'].get(_OURS)}"[:500], file=sys.stderr)
    return 1 if wrong else 0


def copy_with_ours(folder: Path, place: Path) -> None:
    """Copy a harness and put our adapter into the copy."""
    shutil.copytree(folder, place, ignore=shutil.ignore_patterns("results", "__pycache__", ".*"))
    for path in (place, *place.rglob("*")):
        path.chmod(path.stat().st_mode | 0o200)
    (place / "results").mkdir()
    shutil.copy(_ADAPTER, place / "adapters" / "ours.py")
    (place / "adapters" / "ours_raw.py").write_text("from .ours import Raw as Engine\n")


def _run(
    place: Path, *, what: tuple[str, ...], engines: list[str], quick: bool
) -> tuple[list[Run], dict[str, str]]:
    answer = place / "results" / "answer.json"
    command = [sys.executable, "bench.py", "-o", str(answer), "--load-timeout", "900"]
    command += ["-e", *engines, "-p", *what]
    command += ["--rounds", "2", "--budget", "0.1"] if quick else ["--rounds", "7"]
    tell("the other harness runs; what it says follows")
    path = os.pathsep.join([str(_ROOT), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    environment = {**os.environ, "PYTHONPATH": path}
    subprocess.run(command, cwd=place, env=environment, stdout=sys.stderr, check=True)
    said = json.loads(answer.read_text())
    return said["runs"], {key: meta["name"] for key, meta in said["meta"].items() if meta}


def text_of(runs: list[Run], names: Mapping[str, str]) -> str:
    """Return a table of all runs; ratios are medians over the rounds of ratios of medians."""
    beside = [key for key in _BESIDE if key in names]
    head = [*_HEAD, *(f"÷ {names[key]}" for key in beside), "verdicts that differ"]
    rule = ["---", "---", *["--:"] * (len(head) - 2)]
    lines = [_line(head), _line(rule)]
    for run in runs:
        for key, found in run["engines"].items():
            if "median_ns" in found:
                lines.append(_line(list(_cells(run, key, names, beside))))
            else:
                said = found.get("error", "nothing")
                lines.append(_line([_scale(run), names[key], *["–"] * (len(head) - 3), said[:80]]))
    return "\n".join(lines) + "\n"


def _cells(run: Run, key: str, names: Mapping[str, str], beside: list[str]) -> Iterator[str]:
    found = run["engines"][key]
    yield _scale(run)
    yield f"**{names[key]}**" if key in (_OURS, _RAW) else names[key]
    yield number(found["load_s"])
    yield f"{found['rss_mb']:.1f}"
    yield number(found["median_ns"] / 1e3)
    yield number(found["p99_ns"] / 1e3)
    for other in beside:
        times = _times(found, run["engines"].get(other, {}))
        yield "–" if times is None else number(times)
    yield f"{found['disagree']} of {found['checked']}"


def _times(found: Run, other: Run) -> float | None:
    pairs = zip(found.get("rounds", ()), other.get("rounds", ()), strict=False)
    ratios = [a["median_ns"] / b["median_ns"] for a, b in pairs]
    return median(ratios) if ratios else None


def _keep(runs: list[Run], names: Mapping[str, str], text: str) -> None:
    # Only who keeps plots needs what draws them.
    from bench.plots import svg

    pictures = []
    for profile in _PROFILES:
        lines: dict[str, list[tuple[float, float]]] = {}
        for run in (run for run in runs if run["profile"] == profile):
            for key, found in run["engines"].items():
                if "median_ns" in found:
                    points = lines.setdefault(names[key], [])
                    points.append((run["n"], found["median_ns"] / 1e3))
        title = f"Engines side by side, profile {profile}: median"
        chart = Chart(key=f"peers-{profile}", title=title, unit="µs", lines=lines)
        PLOTS.mkdir(exist_ok=True)
        (PLOTS / f"{chart.key}.svg").write_text(svg(chart), encoding="utf-8")
        pictures.append(f"![{title}]({PLOTS.name}/{chart.key}.svg)")
    write("\n\n".join([*pictures, text]), PEERS_MARKS)


def _scale(run: Run) -> str:
    return f"{run['profile']}, {run['n']:,}"


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    raise SystemExit(main())

"""Count fixed workloads and compare with what was accepted: `python -m bench.gate`, a minute.

What is counted are instructions of the interpreter, calls and imported modules: the same on any
machine, however busy. The exit status is 1 where one grew by more than a few percent over
`bench/gate.json`. `--accept` writes that file. One time is looked at, with a wide margin: how many
times longer a decision takes than the floor's, in turn, in the quietest of some rounds; `--counts`
leaves it out.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from pathlib import Path
from typing import Any

from bench.effort import tell
from bench.gate_numbers import Numbers, compare
from bench.gate_work import workloads
from bench.process import in_turn, processes
from bench.rows import FLOOR
from bench.subjects.deciding import DECIDE
from bench.timing import median

ACCEPTED = Path(__file__).parent / "gate.json"
# The goal is 2; on a busy machine the quietest round of several has stayed well below this.
_MOST_TIMES = 4.0
_ROUNDS, _SECONDS = 9, 0.1
_SEED = "PYTHONHASHSEED"


def main() -> int:
    """Count, compare and tell; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m bench.gate", description=__doc__)
    parser.add_argument("--accept", action="store_true", help="write the numbers as accepted")
    parser.add_argument(
        "--counts",
        action="store_true",
        help="look at no time, and pass where nothing was accepted for this Python",
    )
    parser.add_argument("--file", type=Path, default=ACCEPTED, help="where accepted numbers stand")
    chosen = parser.parse_args()
    if os.environ.get(_SEED) != "0":
        # Sets are walked in an order of their hashes.
        os.execve(sys.executable, [sys.executable, "-m", "bench.gate", *sys.argv[1:]], _seeded())
    known: dict[str, Any] = json.loads(chosen.file.read_text()) if chosen.file.exists() else {}
    if _python() not in known and not chosen.accept:
        print(f"no numbers were accepted for {_python()}: `make gate-accept` writes them")
        return 0 if chosen.counts else 1
    now = {}
    for name, count in workloads():
        tell(f"counting: {name}")
        now[name] = count()
    if chosen.accept:
        chosen.file.write_text(json.dumps({**known, _python(): now}, indent=1) + "\n")
        print(f"accepted {len(now)} workloads for {_python()}")
        return 0
    counts = told(known[_python()], now)
    return counts if chosen.counts else max(counts, _timed())


def told(accepted: Numbers, now: Numbers) -> int:
    """Say how the numbers compare; return the exit status."""
    compared = compare(accepted, now)
    for change in compared.grown:
        print(f"grew: {change}")
    for change in compared.shrunk:
        print(f"shrank, to be accepted: {change}")
    for name in compared.unknown:
        print(f"counted or accepted alone: {name}")
    if compared.holds:
        print(f"{len(now)} workloads: nothing grew")
    return 0 if compared.holds else 1


def _timed() -> int:
    tell("timing: a decision beside the floor's")
    plan = {"profile": "full", "n": 1_000}
    wanted = {key: ("deciding", {"name": key, **plan}) for key in ("placet", FLOOR)}
    with processes(wanted) as running:
        for process in running.values():
            process.ask("load")
            process.ask("check", seconds=10)
        found = in_turn(running, rounds=_ROUNDS, seconds=_SECONDS)
    pairs = zip(found["placet"][DECIDE], found[FLOOR][DECIDE], strict=True)
    times = min(median(ours) / median(floor) for ours, floor in pairs)
    print(f"a decision takes {times:.2f} times the floor's; at most {_MOST_TIMES:g} are let pass")
    return 1 if times > _MOST_TIMES else 0


def _python() -> str:
    return f"{platform.python_implementation()} {'.'.join(platform.python_version_tuple()[:2])}"


def _seeded() -> dict[str, str]:
    return {**os.environ, _SEED: "0"}


if __name__ == "__main__":
    raise SystemExit(main())

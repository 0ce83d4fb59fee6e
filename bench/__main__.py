"""Measure everything beside the other engines: `python -m bench`, some twenty minutes.

Progress goes to standard error, the tables to standard output and, with the plots, to
`docs/performance.md`; the numbers to `bench/results/latest.json`. The exit status is 1 where an
engine's verdict is wrong.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path

from bench.effort import QUICK, Effort, tell
from bench.page import joined, keep, text_of
from bench.process import Failed
from bench.report import as_json, machine
from bench.rows import Part

_RESULTS = Path(__file__).parent / "results"
# In the order of the page: each is a module with a function `measure`.
_PARTS = ("decisions", "verbs", "calls", "loading", "editing", "starting")


def main() -> int:
    """Run the parts asked for; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few sizes and rounds; kept nowhere")
    parser.add_argument("--only", nargs="+", choices=_PARTS, default=_PARTS, help="kept nowhere")
    parser.add_argument("--keep", type=Path, metavar="FILE", help="keep the numbers here as well")
    chosen = parser.parse_args()
    about = machine(f"{datetime.now(UTC):%Y-%m-%d}")
    try:
        part = joined([_measure(name)(QUICK if chosen.quick else Effort()) for name in chosen.only])
    except Failed as failure:
        print(f"bench: {failure}", file=sys.stderr)
        return 1
    text = text_of(part, about=about)
    values = json.dumps(as_json(part, about=about), indent=1) + "\n"
    print(text)
    if chosen.keep:
        chosen.keep.write_text(values)
    if not chosen.quick and tuple(chosen.only) == _PARTS:
        _RESULTS.mkdir(exist_ok=True)
        (_RESULTS / "latest.json").write_text(values)
        keep(part, text)
    tell("done")
    return 1 if any(check.wrong for check in part.checks) else 0


def _measure(name: str) -> Callable[[Effort], Part]:
    measure: Callable[[Effort], Part] = import_module(f"bench.{name}").measure
    return measure


if __name__ == "__main__":
    raise SystemExit(main())

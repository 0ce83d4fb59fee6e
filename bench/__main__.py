"""Measure everything beside the other engines: `python -m bench`, some twenty minutes.

Progress goes to standard error, the tables to standard output and, with the plots, to
`docs/performance.md`; the numbers to `bench/results/latest.json`. The exit status is 1 where an
engine's verdict is wrong, or where a part failed; what it would have said stands as not measured.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path

from bench.effort import QUICK, Effort, tell
from bench.page import joined, keep, text_of
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
    found, failed = _measured(tuple(chosen.only), QUICK if chosen.quick else Effort())
    part = joined(found)
    text = text_of(part, about=about)
    values = json.dumps(as_json(part, about=about), indent=1) + "\n"
    print(text)
    if chosen.keep:
        chosen.keep.write_text(values)
    if not chosen.quick and tuple(chosen.only) == _PARTS:
        _RESULTS.mkdir(exist_ok=True)
        (_RESULTS / "latest.json").write_text(values)
        keep(part, text)
    tell(f"done; failed: {', '.join(failed) or 'nothing'}")
    return 1 if failed or any(check.wrong for check in part.checks) else 0


def _measured(names: tuple[str, ...], effort: Effort) -> tuple[list[Part], list[str]]:
    """Return what the parts found, and the names of those that failed: the others are kept."""
    found: list[Part] = []
    failed: list[str] = []
    for name in names:
        measure: Callable[[Effort], Part] = import_module(f"bench.{name}").measure
        try:
            found.append(measure(effort))
        except Exception as failure:  # noqa: BLE001 (what the other parts found is not lost)
            tell(f"{name} failed: {type(failure).__name__}: {failure}")
            failed.append(name)
    return found, failed


if __name__ == "__main__":
    raise SystemExit(main())

"""Measure everything beside the other engines: `python -m bench`, a few minutes.

Progress goes to standard error, the tables to standard output, `bench/results/latest.md`,
`latest.json` and `bench/README.md`. The exit status is 1 where an engine's verdict is wrong.
"""

from __future__ import annotations

import argparse
import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic

from bench import calls, decisions, loading
from bench.decisions import Checked
from bench.effort import QUICK, Effort, tell
from bench.process import Failed
from bench.report import as_json, machine, markdown
from bench.rows import Table

_HERE = Path(__file__).parent
_BEGIN, _END = "<!-- latest -->", "<!-- end of latest -->"
_PARTS = ("decisions", "loading", "calls")


def main() -> int:
    """Run the parts asked for; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few sizes and rounds; kept nowhere")
    parser.add_argument("--only", nargs="+", choices=_PARTS, default=_PARTS, help="kept nowhere")
    chosen = parser.parse_args()
    effort = QUICK if chosen.quick else Effort()
    began, about = monotonic(), machine(f"{datetime.now(UTC):%Y-%m-%d}")
    try:
        tables, checks = _measured(effort, tuple(chosen.only))
    except Failed as failure:
        print(f"bench: {failure}", file=sys.stderr)
        return 1
    text = markdown(tables, checks, about=about)
    print(text)
    if not chosen.quick and tuple(chosen.only) == _PARTS:
        _keep(text, json.dumps(as_json(tables, checks, about=about), indent=1))
    tell(f"done in {monotonic() - began:.0f} s")
    return 1 if any(check.wrong for check in checks) else 0


def _measured(effort: Effort, parts: tuple[str, ...]) -> tuple[list[Table], list[Checked]]:
    tables: list[Table] = []
    checks: list[Checked] = []
    if "decisions" in parts:
        found, compared = decisions.measure(effort)
        tables += found
        checks += compared
    if "loading" in parts:
        tables += loading.measure(effort)
    if "calls" in parts:
        found, compared = calls.measure(effort)
        tables += found
        checks += compared
    return tables, checks


def _keep(text: str, values: str) -> None:
    results = _HERE / "results"
    results.mkdir(exist_ok=True)
    (results / "latest.md").write_text(text)
    (results / "latest.json").write_text(values + "\n")
    page = _HERE / "README.md"
    before, _, rest = page.read_text().partition(_BEGIN)
    _, _, after = rest.partition(_END)
    page.write_text(f"{before}{_BEGIN}\n\n{text}\n{_END}{after}")


if __name__ == "__main__":
    raise SystemExit(main())

"""Time comparisons of two policies: `python -m bench.comparing`, about a minute.

Rules are those of `workload.py`: `full` has them on a fifth as many tools, `skew` all on three.
The policies are loaded before. `five edits` remove a rule, add one, replace one, turn one into
another verdict, and give one another condition. The exit status is 1 where a goal is missed. What
is measured is processor time, so that a busy machine shows about the same. No garbage is collected
meanwhile, as in commands and reloads.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Any

import policy
from bench import peers_adapter, workload
from bench.folders import write_folder
from policy.generation import no_collecting
from policy.verify import Difference, compare

Rules = list[dict[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Case:
    """Two sets of rules, and in how many seconds they should be compared."""

    what: str
    profile: str
    n: int
    change: Callable[[Rules, str], Rules]
    seconds: float


def edited(rules: Rules, profile: str) -> Rules:
    """Return the rules after five edits."""
    chosen = random.Random(3)
    found = list(rules)
    others = workload.make_rules(len(rules), seed=11, profile=profile)
    removed, replaced, turned, changed = chosen.sample(range(len(found)), 4)
    found[replaced] = others[replaced]
    turned_to = "deny" if found[turned]["effect"] != "deny" else "allow"
    found[turned] = {**found[turned], "effect": turned_to}
    found[changed] = {**found[changed], "conds": others[changed]["conds"]}
    del found[removed]
    return [*found, {**others[0], "id": "added"}]


def unlike(rules: Rules, profile: str) -> Rules:
    """Return other rules about the same tools."""
    return workload.make_rules(len(rules), seed=11, profile=profile)


_CASES = (
    *(
        _Case(what="five edits", profile=profile, n=n, change=edited, seconds=1.0)
        for profile in ("full", "skew")
        for n in (100, 1_000)
    ),
    _Case(what="unlike sets", profile="full", n=100, change=unlike, seconds=1.0),
    _Case(what="unlike sets", profile="full", n=1_000, change=unlike, seconds=10.0),
    _Case(what="unlike sets", profile="skew", n=100, change=unlike, seconds=1.0),
    _Case(what="unlike sets", profile="skew", n=1_000, change=unlike, seconds=10.0),
)


def main() -> int:
    """Print a line for each comparison; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m bench.comparing", description=__doc__)
    parser.add_argument("--only", help="the cases whose line contains this text")
    chosen = parser.parse_args()
    missed = False
    for case in _CASES:
        name = f"{case.what}, {case.profile}, {case.n:,} rules"
        if chosen.only and chosen.only not in name:
            continue
        taken, found = _compared(case)
        missed |= taken > case.seconds
        print(f"{name:<34} {taken:7.2f} s, goal {case.seconds:g} s   {_counted(found)}", flush=True)
    return int(missed)


def _compared(case: _Case) -> tuple[float, Difference]:
    rules = workload.make_rules(case.n, profile=case.profile)
    tools = [tool for tool, _ in workload.universe(case.n, case.profile)]
    before, after = (_loaded(each, tools) for each in (rules, case.change(rules, case.profile)))
    with no_collecting():
        started = process_time()
        found = compare(before, after, progress=_progress)
        taken = process_time() - started
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr, flush=True)
    return taken, found


def _progress(done: int, total: int) -> None:
    if sys.stderr.isatty():
        print(f"\r{done} of {total} tools", end="", file=sys.stderr, flush=True)


def _loaded(rules: Rules, tools: list[str]) -> policy.Generation:
    with tempfile.TemporaryDirectory() as folder:
        write_folder(Path(folder, "rules"), rules, files=1)
        return policy.load(Path(folder, "rules"), catalog=peers_adapter.catalog_of(tools))


def _counted(found: Difference) -> str:
    """Return how many rows of each status there are."""
    counts: dict[str, int] = {}
    for one in found.tools:
        counts[one.status] = counts.get(one.status, 0) + 1
    return ", ".join(f"{count} {status}" for status, count in sorted(counts.items()))


if __name__ == "__main__":
    raise SystemExit(main())

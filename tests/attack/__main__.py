"""Attack the policy engine with scripts: `python -m tests.attack --scripts 2000 --seed 1`.

Scripts are made, judged under several rule sets, and run by real bash in a sandbox where they are
allowed. The exit status is 1 where one of them did what its rules do not allow.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from tests.attack.crew import answers
from tests.attack.line import Done
from tests.attack.rule_sets import BY_NAME, RULE_SETS
from tests.attack.sandbox import missing

_LENGTH = 50
_COUNTED = [one.name for one in fields(Done) if one.name not in ("found", "unlike")]


def main() -> int:
    """Attack, and tell what was found."""
    chosen = _arguments()
    lacking = missing()
    if lacking:
        print(f"attack: these programs are missing: {', '.join(lacking)}", file=sys.stderr)
        return 2
    names = [chosen.rules] if chosen.rules else [one.name for one in RULE_SETS]
    total: dict[str, dict[str, int]] = {name: dict.fromkeys(_COUNTED, 0) for name in names}
    found: list[dict[str, Any]] = []
    unlike: list[str] = []
    start = last = time.monotonic()
    for answer in answers(_requests(chosen, names), workers=chosen.workers):
        for name in _COUNTED:
            total[answer["rules"]][name] += answer[name]
        for one in answer["found"]:
            found.append(one)
            _tell(one, chosen.seed)
        unlike += answer["unlike"]
        if time.monotonic() - last > 30:
            last = time.monotonic()
            print(f"… {_sum(total, 'generated')} scripts, {len(found)} found", flush=True)
    for name, counted in total.items():
        print(f"{name}: " + ", ".join(f"{counted[one]} {one}" for one in _COUNTED))
    for script in unlike[: chosen.unlike]:
        print(f"unlike its printed form, perhaps by chance: {script!r}")
    print("all: " + ", ".join(f"{_sum(total, one)} {one}" for one in _COUNTED))
    print(
        f"seed {chosen.seed}, {time.monotonic() - start:.0f} s: {len(found)} did what they may not"
    )
    return 1 if found else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.attack", description=__doc__)
    parser.add_argument("--scripts", type=int, default=2000, help="how many to make")
    parser.add_argument("--seed", type=int, default=1, help="what all of them follow from")
    parser.add_argument("--rules", choices=sorted(BY_NAME), help="one rule set in place of all")
    parser.add_argument("--line", type=int, help="one line of scripts, by its number")
    parser.add_argument(
        "--unlike", type=int, default=0, help="show so many unlike their printed form"
    )
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    return parser.parse_args()


def _requests(chosen: argparse.Namespace, names: list[str]) -> Iterator[dict[str, Any]]:
    numbers = range(-(-chosen.scripts // _LENGTH)) if chosen.line is None else [chosen.line]
    for number in numbers:
        rules = names[number % len(names)]
        yield {"rules": rules, "seed": chosen.seed, "number": number, "length": _LENGTH}


def _sum(total: dict[str, dict[str, int]], name: str) -> int:
    return sum(counted[name] for counted in total.values())


def _tell(one: dict[str, Any], seed: int) -> None:
    form = "its printed form" if one["printed"] else "it"
    print(f"\nFOUND under the rules `{one['rules']}`: a script may run, and {form} did")
    for effect in one["effects"]:
        print(f"    {effect}")
    print(f"  seed {seed}, line {one['number']}, script {one['index']}: {one['script']!r}")
    print(f"  smaller: {one['smaller']!r}", flush=True)


if __name__ == "__main__":
    sys.exit(main())

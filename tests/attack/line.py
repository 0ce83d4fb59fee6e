"""A line of scripts: each is made of one before it that was allowed, and what is allowed is run.

All of a line follows from its seed and number, so that it can be had again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Protocol

from tests.attack.grammar import grow
from tests.attack.happenings import Happening
from tests.attack.judging import Judged
from tests.attack.mutations import mutate
from tests.attack.printing import printed
from tests.attack.rule_sets import RuleSet
from tests.attack.seeds import EVERYDAY, seeds
from tests.attack.shrinking import shrink

_MOST_FOUND = 3


class Decides(Protocol):
    """Says whether a script may run."""

    def judged(self, script: str) -> Judged:
        """Decide one script."""
        ...


class Runs(Protocol):
    """Runs scripts, and tells what happened."""

    def run(self, script: str) -> list[Happening]:
        """Run one script."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A script that was allowed and did what it may not; `smaller` does so too."""

    rules: str
    number: int
    index: int
    script: str
    smaller: str
    printed: bool
    effects: list[str]


@dataclass(slots=True, kw_only=True)
class Done:
    """What came of a line: how many scripts there were, and what was found."""

    generated: int = 0
    allowed: int = 0
    run: int = 0
    printable: int = 0
    different: int = 0
    found: list[Found] = field(default_factory=list)


def attack(
    judge: Decides, sandbox: Runs, rules: RuleSet, *, seed: int, number: int, length: int
) -> Done:
    """Make, judge and run the scripts of one line."""
    done = Done()
    seen: set[str] = set()
    for index, script in enumerate(scripts(judge, seed=seed, number=number, length=length)):
        done.generated += 1
        judged = judge.judged(script)
        if not judged.allowed or judged.command in seen:
            continue
        seen.add(judged.command)
        done.allowed += 1
        form = printed(judged.command)
        forms = (
            [(judged.command, False)] if form is None else [(judged.command, False), (form, True)]
        )
        done.printable += form is not None
        for text, is_printed in forms:
            if is_printed and text == judged.command:
                continue
            done.run += 1
            done.different += is_printed
            wrong = rules.bounds.forbidden(text, sandbox.run(text))
            if wrong and len(done.found) < _MOST_FOUND:
                done.found.append(
                    Found(
                        rules=rules.name,
                        number=number,
                        index=index,
                        script=script,
                        smaller=shrink(script, _still(judge, sandbox, rules, wrong, is_printed)),
                        printed=is_printed,
                        effects=[str(one) for one in wrong],
                    )
                )
    return done


def scripts(judge: Decides, *, seed: int, number: int, length: int) -> Sequence[str]:
    """Return the scripts of one line."""
    rng = Random(f"{seed}:{number}")
    # Those to go on from: what was allowed last goes first.
    kept = [rng.choice(EVERYDAY)]
    made: list[str] = []
    for _ in range(length):
        way = rng.random()
        if way < 0.12:
            script = grow(rng)
        elif way < 0.2:
            script = rng.choice(seeds())
        elif way < 0.3:
            script = mutate(rng, rng.choice(seeds()), seeds())
        else:
            script = mutate(rng, rng.choice(kept[-8:]), (*kept, rng.choice(seeds())))
        made.append(script)
        if len(script) < 600 and judge.judged(script).allowed:
            kept.append(script)
    return made


def _still(
    judge: Decides, sandbox: Runs, rules: RuleSet, wrong: Sequence[Happening], is_printed: bool
) -> Callable[[str], bool]:
    """Return what tells whether a script is allowed and does wrong in one of the same ways."""
    kinds = {one.kind for one in wrong}

    def still(script: str) -> bool:
        judged = judge.judged(script)
        if not judged.allowed:
            return False
        text = printed(judged.command) if is_printed else judged.command
        if text is None:
            return False
        wrong = rules.bounds.forbidden(text, sandbox.run(text))
        return any(one.kind in kinds for one in wrong)

    return still

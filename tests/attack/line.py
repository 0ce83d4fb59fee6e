"""Runs a series of attacks: each script is a mutation of an earlier one that was allowed.

All of a line follows from its seed and number, so that it can be had again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Protocol

from policy.shell import read_script
from policy.values import Unreadable
from tests.attack.grammar import grow
from tests.attack.happenings import Happening
from tests.attack.judging import Judged
from tests.attack.mutations import mutate
from tests.attack.printing import printed
from tests.attack.rule_sets import RuleSet
from tests.attack.seeds import EVERYDAY, seeds
from tests.attack.shrinking import shrink

_MOST_FOUND = 3
# What grows longer is not gone on from.
_LONGEST_KEPT = 600


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
    """What came of a line: how many scripts there were, and what was found.

    `printable` counts the allowed scripts that have a printed form, `respelled` the runs of one
    that is another text. Of the scripts `unlike` it seems to do something else, which may be
    chance where they run things at once.
    """

    generated: int = 0
    readable: int = 0
    allowed: int = 0
    run: int = 0
    printable: int = 0
    respelled: int = 0
    found: list[Found] = field(default_factory=list)
    unlike: list[str] = field(default_factory=list)


def attack(
    judge: Decides, sandbox: Runs, rules: RuleSet, *, seed: int, number: int, length: int
) -> Done:
    """Make, judge and run the scripts of one line."""
    done = Done()
    seen: set[str] = set()
    for index, (script, judged) in enumerate(
        scripts(judge, seed=seed, number=number, length=length)
    ):
        done.generated += 1
        if judged.raised:
            done.found.append(
                Found(
                    rules=rules.name,
                    number=number,
                    index=index,
                    script=script,
                    smaller=shrink(script, lambda text: bool(judge.judged(text).raised)),
                    printed=False,
                    effects=[f"the decision raised {judged.raised}"],
                )
            )
            continue
        done.readable += not isinstance(read_script(script), Unreadable)
        if not judged.allowed or judged.command in seen:
            continue
        seen.add(judged.command)
        done.allowed += 1
        form = printed(judged.command)
        done.printable += form is not None
        forms = [judged.command] if form in (None, judged.command) else [judged.command, form]
        happened: list[list[Happening]] = []
        for text in filter(None, forms):
            happened.append(sandbox.run(text))
            wrong = rules.bounds.forbidden(text, happened[-1])
            if wrong and len(done.found) < _MOST_FOUND:
                is_printed = len(happened) > 1
                smaller = shrink(script, _still(judge, sandbox, rules, wrong, is_printed))
                done.found.append(
                    Found(
                        rules=rules.name,
                        number=number,
                        index=index,
                        script=script,
                        smaller=smaller,
                        printed=is_printed,
                        effects=[str(one) for one in wrong],
                    )
                )
        done.run += len(happened)
        done.respelled += len(happened) - 1
        if any(set(one) != set(happened[0]) for one in happened):
            done.unlike.append(script)
    return done


def scripts(judge: Decides, *, seed: int, number: int, length: int) -> Iterator[tuple[str, Judged]]:
    """Yield the scripts of one line, and what is decided of them."""
    rng = Random(f"{seed}:{number}")
    # Those to go on from.
    kept = [rng.choice(EVERYDAY)]
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
        judged = judge.judged(script)
        if judged.allowed and len(script) < _LONGEST_KEPT:
            kept.append(script)
        yield script, judged


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

"""Finds the shortest string that is in some languages and not in others.

The automata run side by side, and their common states are made when they are reached. Before a
state is followed, it is compared with those from which at least as much is possible (antichains:
De Wulf and others, *Antichains: A New Algorithm for Checking Universality*, 2006).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from policy.solving.automata.characters import (
    ALL,
    Characters,
    classes,
)
from policy.solving.automata.language import Language


class OutOfSteps(Exception):
    """The steps were used up before an answer was found."""


@dataclass(slots=True)
class Steps:
    """How many states may still be followed; the same question takes the same number anywhere."""

    left: int

    def take(self, count: int = 1) -> None:
        """Use some of the steps. Raises OutOfSteps if there are none."""
        self.left -= count
        if self.left < 0:
            raise OutOfSteps


@dataclass(frozen=True, slots=True)
class Meeting:
    """A string, or None, and then the languages that were needed to see that there is none."""

    text: str | None
    inside: tuple[int, ...] = ()
    outside: tuple[int, ...] = ()


def meeting(
    inside: Sequence[Language],
    outside: Sequence[Language],
    *,
    within: Characters = ALL,
    steps: Steps,
) -> Meeting:
    """Return a shortest string that is in all of the first languages and none of the others.

    `within` are the characters that it may have. A language is only looked at once a string is
    found that it excludes: most never matter. Raises OutOfSteps.
    """
    # The places of languages, those inside before those outside.
    sides = (*((one, True) for one in inside), *((one, False) for one in outside))
    needed: list[int] = []
    most = 1
    while True:
        text = shortest(
            [sides[at][0] for at in needed if sides[at][1]],
            [sides[at][0] for at in needed if not sides[at][1]],
            within=within,
            steps=steps,
        )
        if text is None:
            return Meeting(
                None,
                inside=tuple(at for at in needed if at < len(inside)),
                outside=tuple(at - len(inside) for at in needed if at >= len(inside)),
            )
        wrong = [at for at, (one, wanted) in enumerate(sides) if contains(one, text) is not wanted]
        if not wrong:
            return Meeting(text)
        needed += wrong[:most]
        most *= 2


def contains(one: Language, text: str) -> bool:
    """Return whether a string is in a language."""
    state = one.start
    for char in text:
        state = _following(one.shifts, state) & one.entered_by(ord(char))
        if not state:
            return False
    return _accepts(one.accepting, state)


def shortest(
    inside: Sequence[Language], outside: Sequence[Language], *, within: Characters, steps: Steps
) -> str | None:
    """Return a shortest string that is in all of the first languages and none of the others."""
    together = _Together(inside, outside, within)
    start = together.start
    before: dict[int, tuple[int, int] | None] = {start: None}
    least: dict[int, list[int]] = {}
    frontier = [start]
    if together.accepts(start):
        return ""
    while frontier:
        following: list[int] = []
        for state in frontier:
            steps.take()
            for code, new in together.steps_from(state):
                if new in before or together.is_dominated(new, least):
                    continue
                before[new] = (state, code)
                if together.accepts(new):
                    return _spelled(before, new)
                following.append(new)
        frontier = following
    return None


def _accepts(pairs: Iterable[tuple[int, int]], state: int) -> bool:
    return any(state & some and not state & none for some, none in pairs)


def _spelled(before: dict[int, tuple[int, int] | None], state: int) -> str:
    chars: list[str] = []
    while (step := before[state]) is not None:
        state, code = step
        chars.append(chr(code))
    return "".join(reversed(chars))


def _following(shifts: Sequence[tuple[int, int]], state: int) -> int:
    found = 0
    for length, leaving in shifts:
        active = state & leaving
        if active:
            found |= active << length if length >= 0 else active >> -length
    return found


class _Together:
    """Automata side by side, in one integer."""

    def __init__(
        self, inside: Sequence[Language], outside: Sequence[Language], within: Characters
    ) -> None:
        self.start = 0
        shifts: dict[int, int] = {}
        reading: dict[Characters, int] = {}
        self._inside: list[tuple[tuple[int, int], ...]] = []
        self._outside: list[tuple[tuple[int, int], ...]] = []
        # Of these states, those of two texts must be equal for one to be better than the other; of
        # the rest, fewer are better.
        self._compared = 0
        offset = 0
        for number, one in enumerate((*inside, *outside)):
            self.start |= one.start << offset
            pairs = tuple((some << offset, none << offset) for some, none in one.accepting)
            (self._inside if number < len(inside) else self._outside).append(pairs)
            if number < len(inside) or any(none for _, none in pairs):
                self._compared |= ((1 << one.size) - 1) << offset
            for length, states in one.shifts:
                shifts[length] = shifts.get(length, 0) | states << offset
            for chars, states in one.reading:
                reading[chars] = reading.get(chars, 0) | states << offset
            offset += one.size
        self._parts = _parts(inside)
        self._not_accepting = sum(
            some for pairs in self._outside for some, none in pairs if not none
        )
        self._shifts = tuple(shifts.items())
        codes = classes(reading, within)
        # Characters that fewer outer patterns read come first: their states dominate more others.
        codes.sort(key=lambda item: (item[1] & ~self._compared).bit_count())
        self._codes = tuple(codes)
        self._hopeless = self._accepting_all()

    def steps_from(self, state: int) -> list[tuple[int, int]]:
        """Return the states that may come next, each with a character that leads there."""
        following = _following(self._shifts, state)
        found: dict[int, int] = {}
        for code, reading in self._codes:
            new = following & reading
            if new in found or new & self._hopeless:
                continue
            if all(new & part for part in self._parts):
                found[new] = code
        return [(code, new) for new, code in found.items()]

    def accepts(self, state: int) -> bool:
        """Return whether a text that leads here is in all and outside of all."""
        return not any(_accepts(pairs, state) for pairs in self._outside) and all(
            _accepts(pairs, state) for pairs in self._inside
        )

    def is_dominated(self, state: int, least: dict[int, list[int]]) -> bool:
        """Return whether another state is inside of the same, and outside of no less.

        Notes the state in `least` if none is.
        """
        others = least.setdefault(state & self._compared, [])
        outer = state & ~self._compared
        if any(not other & ~outer for other in others):
            return True
        others.append(outer)
        return False

    def _accepting_all(self) -> int:
        """Return states of the outer languages from which every text is accepted."""
        everything = ~self._compared
        for _, reading in self._codes:
            everything &= reading
        looping = dict(self._shifts).get(0, 0) & everything & self._not_accepting
        found = looping
        for length, leaving in self._shifts:
            back = looping >> length if length >= 0 else looping << -length
            found |= back & leaving & self._not_accepting
        return found


def _parts(languages: Sequence[Language]) -> tuple[int, ...]:
    """Return the states of each language, side by side."""
    found: list[int] = []
    offset = 0
    for one in languages:
        found.append(((1 << one.size) - 1) << offset)
        offset += one.size
    return tuple(found)

"""`Strings`: which languages a string may be in at once, as a theory beneath the search.

A string is free: nothing is known of it but the languages that literals say it is in or not in.
What is found for one holds for all, so a clause about one is required of the others as well.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from policy.solving import (
    ALL,
    PRINTABLE,
    Clauses,
    Language,
    OutOfSteps,
    Steps,
    contains,
    meeting,
)

# States of automata: for one question, and for all of one search.
MOST_STATES = 3_000
MOST_STATES_IN_ALL = 100_000
# For a string or resource to show, once a claim is not proved.
MOST_STATES_OF_AN_EXAMPLE = 12_000
_MOST_AT_ONCE = 20  # clauses for one assignment


class Word:
    """A string, with a literal for each language that it may be in.

    `within` are languages that it is always in. While the literal `present` does not hold, there is
    no such string.
    """

    def __init__(self, clauses: Clauses, present: int, within: tuple[Language, ...] = ()) -> None:
        self._clauses = clauses
        self.present = present
        self.within = within
        self.literals: dict[Language, int] = {}

    def is_in(self, language: Language) -> int:
        """Return the literal that the string is in a language."""
        found = self.literals.get(language)
        if found is None:
            found = self.literals[language] = self._clauses.variable()
        return found

    def allows(self, text: str, holding: frozenset[int]) -> bool:
        """Return whether everything is true of a text that an assignment says of the string."""
        return all(
            contains(language, text) == (literal in holding)
            for language, literal in self.literals.items()
        )


class Strings:
    """The strings of a call, and what may be true of them."""

    def __init__(self, clauses: Clauses) -> None:
        self._clauses = clauses
        self._words: list[Word] = []
        self._left = MOST_STATES_IN_ALL
        clauses.theories.append(self)

    def word(self, present: int, *, within: tuple[Language, ...] = ()) -> Word:
        """Return a new string, which is there if the literal holds."""
        made = Word(self._clauses, present, within)
        self._words.append(made)
        return made

    def refute(self, holding: frozenset[int]) -> list[list[int]]:
        """Return clauses that exclude what the assignment says of some strings, if it cannot be."""
        found: list[list[int]] = []
        for word in self._words:
            if word.present in holding:
                for conflict in self._conflicts(word, holding):
                    found += self._clauses_of(conflict)
        return found

    def example(self, word: Word, holding: frozenset[int]) -> str | None:
        """Return a short string of which everything is true that the assignment says.

        It consists of printed characters of ASCII, if one does.
        """
        inside, outside = _sides(word, holding)
        try:
            for within in (PRINTABLE, ALL):
                steps = Steps(MOST_STATES_OF_AN_EXAMPLE)
                found = meeting(inside, outside, within=within, steps=steps)
                if found.text is not None:
                    return found.text
        except OutOfSteps:
            return None
        return None

    def _conflicts(
        self, word: Word, holding: frozenset[int]
    ) -> Iterable[tuple[tuple[Language, ...], tuple[Language, ...]]]:
        """Yield languages that no string can be in, and outside of, at once."""
        inside, outside = _sides(word, holding)
        for _ in range(_MOST_AT_ONCE):
            conflict = self._conflict(inside, outside)
            if conflict is None:
                return
            yield conflict
            ins, outs = conflict
            # Without one of its languages, the rest may have a conflict of its own.
            if outs:
                outside = tuple(one for one in outside if one != outs[0])
            else:
                last = next((one for one in reversed(ins) if one not in word.within), None)
                if last is None:
                    return
                inside = tuple(one for one in inside if one != last)

    def _conflict(
        self, inside: tuple[Language, ...], outside: tuple[Language, ...]
    ) -> tuple[tuple[Language, ...], tuple[Language, ...]] | None:
        """Return few languages that exclude each other; None if there are none, or not found."""
        if self._left <= 0:
            return None
        found, used = smallest_conflict(inside, outside)
        self._left -= used
        return found if isinstance(found, tuple) else None

    def _clauses_of(
        self, conflict: tuple[tuple[Language, ...], tuple[Language, ...]]
    ) -> Iterable[list[int]]:
        ins, outs = conflict
        for word in self._words:
            asked = [one for one in ins if one not in word.within]
            if all(one in word.literals for one in (*asked, *outs)):
                yield [
                    -word.present,
                    *(-word.literals[one] for one in asked),
                    *(word.literals[one] for one in outs),
                ]


def _sides(
    word: Word, holding: frozenset[int]
) -> tuple[tuple[Language, ...], tuple[Language, ...]]:
    inside = [one for one, literal in word.literals.items() if literal in holding]
    outside = [one for one, literal in word.literals.items() if literal not in holding]
    return (*word.within, *inside), tuple(outside)


@lru_cache(maxsize=8192)
def smallest_conflict(
    inside: tuple[Language, ...], outside: tuple[Language, ...]
) -> tuple[tuple[tuple[Language, ...], tuple[Language, ...]] | str | None, int]:
    """Return languages that no string is in, and outside of, none superfluous; and the steps used.

    If some string is, return that in place of languages; None if neither was found. The steps count
    although the answer is kept: what is found must not depend on earlier questions.
    """
    steps = Steps(MOST_STATES)
    try:
        met = meeting(inside, outside, steps=steps)
    except OutOfSteps:
        return None, MOST_STATES
    if met.text is not None:
        return met.text, MOST_STATES - steps.left
    ins, outs = [inside[at] for at in met.inside], [outside[at] for at in met.outside]
    for side in (outs, ins):
        for one in tuple(side):
            side.remove(one)
            if not _excluded(ins, outs, steps):
                side.append(one)
    return (tuple(ins), tuple(outs)), MOST_STATES - max(steps.left, 0)


def _excluded(ins: list[Language], outs: list[Language], steps: Steps) -> bool:
    """Return whether no string is in the first and outside of the others, as far as is known."""
    try:
        return meeting(ins, outs, steps=steps).text is None
    except OutOfSteps:
        return False

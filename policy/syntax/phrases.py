"""What a condition was read to once in, where its words stand again; the place of a condition out.

Many rules ask the same: `session.role in ["admin"]` stands in hundreds of them. What a parser makes
of some words depends on them, on its state before them and on the word behind them, so a condition
that was read once need not be read word by word again: where it stands, a `Phrase` is put, and
whoever wants its parts has them read then. It is for those who know what a condition comes to by
its words; everybody else is handed trees without any.
"""

from __future__ import annotations

import re

from policy.syntax import prebuilt, tree
from policy.syntax.builder import Builder
from policy.syntax.phrase import Phrase, ReadTest
from policy.syntax.stacks import Move, Stack

# Behind these a condition begins.
BEGINS = frozenset(
    number
    for number, (name, *_) in enumerate(prebuilt.TERMINALS, 1)
    if name in ("WHEN", "UNLESS", "_AND", "_OR")
)
# What builds a condition that holds no other one and speaks of no resources.
_TESTS = frozenset(
    {
        Builder.compare,
        Builder.in_,
        Builder.not_in,
        Builder.text_test,
        Builder.like,
        Builder.matches,
        Builder.is_,
    }
)
# The words that may stand behind a condition.
_BEHIND = re.compile(
    r"([ \t\r\n]+)(?:and|or|with[ \t]+approval|when|unless|because|audit|by|two|remember)"
    r"(?![A-Za-z0-9_-])"
)
# Texts may be hostile: no further than this is the end of a condition looked for, and of no more
# conditions than these is anything kept.
_LONGEST = 240
_MOST = 8_192
# A word that ends in a letter may belong to a saying that goes on behind it.
_ENDS = frozenset('"/)]0123456789')


class Place:
    """A place in a statement where a condition begins, and the words that follow up to its end.

    `stop` is where the condition would end, `next` where the word behind it begins. If it was met
    before, `behind` is the stack of the parser behind it.
    """

    __slots__ = ("behind", "key", "next", "start", "stop")

    def __init__(
        self, key: tuple[Stack, str], start: int, *, stop: int, next: int, behind: Stack | None
    ) -> None:
        self.key = key
        self.start = start
        self.stop = stop
        self.next = next
        self.behind = behind


class Phrases:
    """The conditions met so far in the files of one policy."""

    __slots__ = ("_behind", "_known", "_read")

    def __init__(self, read: ReadTest) -> None:
        self._read = read
        self._known: dict[tuple[Stack, str], Stack] = {}
        self._behind: dict[tuple[Stack, Stack, int], Stack] = {}

    def find(self, stack: Stack, text: str, start: int) -> Place | None:
        """Return how far a condition goes that begins here, None where that is not seen."""
        behind = _BEHIND.search(text, start, start + _LONGEST)
        if behind is not None:
            stop, next = behind.span(1)
            end = behind.end()
        elif len(text) - start <= _LONGEST:
            stop = next = end = len(text)
        else:
            return None
        if text[stop - 1] not in _ENDS:
            return None
        key = (stack, text[start:end])
        return Place(key, start, stop=stop, next=next, behind=self._known.get(key))

    def phrase(self, place: Place, builder: Builder, *, whole: tree.Expr | None = None) -> Phrase:
        """Return what stands for a condition at a place in the statement of a builder."""
        start = place.start
        said = place.key[1][: place.stop - start]
        return Phrase(builder.source, said, builder.start + start, read=self._read, whole=whole)

    def learn(self, place: Place, move: Move, *, last: Stack, terminal: int) -> int:
        """Know a condition again, if it is one: its last word has led to the stack `last`.

        Then comes a terminal, and the move of that builds the condition. Return how many buildings
        that takes, 0 where it is none.
        """
        stack = place.key[0]
        for number, built in enumerate(move.built, 1):
            if built.below is stack and built.call in _TESTS and len(self._known) < _MOST:
                key = (last, stack, terminal)
                behind = self._behind.get(key)
                if behind is None:
                    behind = Stack(last.state, None, closed=True)
                    behind.moves[terminal] = Move(move.built[number:], move.after)
                    self._behind[key] = behind
                self._known[place.key] = behind
                return number
        return 0

    def forget(self, place: Place) -> None:
        """Forget a condition about which something is to be said each time."""
        self._known.pop(place.key, None)

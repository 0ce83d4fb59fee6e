"""`Language`: the strings that an expression describes, as an automaton of bits.

The automaton is Glushkov's: a state is the position in the expression whose character was read
last, so that all edges into a state read the same characters. States are bits of an integer, and
edges are grouped by their length, so that one step of all active states is a few shifts (Navarro
and Raffinot, *Flexible Pattern Matching in Strings*, 2002, section 5.2).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from policy.solving.automata.characters import WORD, Characters, common, has, without
from policy.solving.automata.expressions import Either, Expression, OneOf, Place, Row, Times

# Positions of one expression; a repeated part counts as often as it may repeat.
MOST_POSITIONS = 4_000


class TooLarge(Exception):
    """An expression has more positions than an automaton may have."""


@dataclass(frozen=True, slots=True, eq=False)
class Language:
    """An automaton. `start` are the states before any character, the others are positions.

    A text is accepted if its states include some of the first and none of the second in a pair of
    `accepting`. `shifts` has, for each length, the states that an edge of this length leaves.
    `reading` has, for each set of characters, the states that are entered by one of them.
    """

    size: int
    start: int
    shifts: tuple[tuple[int, int], ...]
    reading: tuple[tuple[Characters, int], ...]
    accepting: tuple[tuple[int, int], ...]
    _entered: dict[int, int] = field(default_factory=dict, repr=False)

    def entered_by(self, code: int) -> int:
        """Return the states that are entered by a character, which are kept once found."""
        found = self._entered.get(code)
        if found is None:
            found = sum(states for chars, states in self.reading if has(chars, code))
            self._entered[code] = found
        return found


def language(expression: Expression) -> Language:
    """Return the automaton of an expression.

    Raises TooLarge if it has too many positions.
    """
    graph = _Graph()
    start = graph.node()
    end = graph.add(expression, start)
    if graph.has_words:
        graph.split_words()
    graph.index()
    after = [_Entry(start, "start"), *(_Entry(r.target, r.kind) for r in graph.readers)]
    accepting = sum(1 << at for at, entry in enumerate(after) if graph.accepts(entry, end))
    shifts: dict[int, int] = {}
    for at, entry in enumerate(after):
        for target in graph.followers(entry):
            shifts[target - at] = shifts.get(target - at, 0) | 1 << at
    reading: dict[Characters, int] = {}
    for at, reader in enumerate(graph.readers, start=1):
        reading[reader.chars] = reading.get(reader.chars, 0) | 1 << at
    return Language(
        size=len(after),
        start=1,
        shifts=tuple(shifts.items()),
        reading=tuple(reading.items()),
        accepting=((accepting, 0),),
    )


def union(languages: Iterable[Language]) -> Language:
    """Return the language of what is in some of the languages, each of one expression.

    Raises TooLarge if they have too many positions together.
    """
    side = _SideBySide()
    accepting = 0
    for one in languages:
        accepting |= side.add(one)
        if side.size > MOST_POSITIONS:
            raise TooLarge
    return side.language(((accepting, 0),))


def union_of_differences(pairs: Iterable[tuple[Language, Language | None]]) -> Language:
    """Return the language of what is in the first of some pair and not in the second.

    Languages of the pairs must be of one expression each, or unions of such.
    """
    side = _SideBySide()
    accepting = [
        (side.add(inside), 0 if outside is None else side.add(outside)) for inside, outside in pairs
    ]
    return side.language(tuple(accepting))


class _SideBySide:
    """Automata side by side, the states of each shifted past those before it."""

    def __init__(self) -> None:
        self.size = 0
        self._start = 0
        self._shifts: dict[int, int] = {}
        self._reading: dict[Characters, int] = {}

    def add(self, one: Language) -> int:
        """Add an automaton; return its accepting states."""
        offset = self.size
        self._start |= one.start << offset
        for length, states in one.shifts:
            self._shifts[length] = self._shifts.get(length, 0) | states << offset
        for chars, states in one.reading:
            self._reading[chars] = self._reading.get(chars, 0) | states << offset
        self.size += one.size
        return one.accepting[0][0] << offset

    def language(self, accepting: tuple[tuple[int, int], ...]) -> Language:
        """Return them as one automaton."""
        return Language(
            size=self.size,
            start=self._start,
            shifts=tuple(self._shifts.items()),
            reading=tuple(self._reading.items()),
            accepting=accepting,
        )


@dataclass(frozen=True, slots=True)
class _Reader:
    """An edge of the graph that reads a character, and what such a character is."""

    source: int
    chars: Characters
    target: int
    kind: Literal["word", "other"] = "other"


@dataclass(frozen=True, slots=True)
class _Entry:
    """Where the automaton is, and what was read before: nothing, a word's character, another."""

    node: int
    before: Literal["start", "word", "other"]


class _Graph:
    """Thompson's graph of an expression: edges that read, and empty ones, some with a condition."""

    def __init__(self) -> None:
        self._empty: list[list[tuple[Place | None, int]]] = []
        self.readers: list[_Reader] = []
        self.has_words = False
        self._reading: dict[int, list[int]] = {}

    def node(self) -> int:
        self._empty.append([])
        return len(self._empty) - 1

    def add(self, expression: Expression, start: int) -> int:
        """Add an expression from a node on; return the node after it."""
        match expression:
            case OneOf(chars=chars):
                end = self.node()
                if chars:
                    self.readers.append(_Reader(start, chars, end))
                if len(self.readers) > MOST_POSITIONS:
                    raise TooLarge
                return end
            case Row(parts=parts):
                for part in parts:
                    start = self.add(part, start)
                return start
            case Either(parts=parts):
                end = self.node()
                for part in parts:
                    self._join(self.add(part, self._after(start)), end)
                return end
            case Times(part=part, least=least, most=most):
                return self._repeat(part, start, least=least, most=most)
            case _:
                self.has_words |= expression.place in ("word", "no word")
                return self._after(start, expression.place)

    def _repeat(self, part: Expression, start: int, *, least: int, most: int | None) -> int:
        if max(least, most or 0) > MOST_POSITIONS:
            raise TooLarge
        for _ in range(least):
            start = self.add(part, start)
        if most is None:
            loop = self._after(start)
            self._join(self.add(part, loop), loop)
            return self._after(loop)
        end = self.node()
        for _ in range(most - least):
            self._join(start, end)
            start = self.add(part, self._after(start))
        self._join(start, end)
        return end

    def _after(self, start: int, place: Place | None = None) -> int:
        end = self.node()
        self._join(start, end, place)
        return end

    def _join(self, start: int, end: int, place: Place | None = None) -> None:
        self._empty[start].append((place, end))

    def split_words(self) -> None:
        """Make every reader read characters of words alone, or others alone."""
        found: list[_Reader] = []
        for reader in self.readers:
            inside, outside = common(reader.chars, WORD), common(reader.chars, without(WORD))
            if inside:
                found.append(_Reader(reader.source, inside, reader.target, "word"))
            if outside:
                found.append(_Reader(reader.source, outside, reader.target, "other"))
        self.readers = found

    def index(self) -> None:
        """Note which positions read from each node, once all readers are known."""
        for at, reader in enumerate(self.readers, start=1):
            self._reading.setdefault(reader.source, []).append(at)

    def followers(self, entry: _Entry) -> Iterator[int]:
        """Yield the positions that may come next."""
        for kind in ("word", "other") if self.has_words else ("other",):
            for node in self._reached(entry, kind):
                for at in self._reading.get(node, ()):
                    if self.readers[at - 1].kind == kind:
                        yield at

    def accepts(self, entry: _Entry, end: int) -> bool:
        """Return whether the text may end here."""
        return end in self._reached(entry, "end")

    def _reached(self, entry: _Entry, after: str) -> frozenset[int]:
        """Return the nodes that empty edges lead to, by what is read before and after them."""
        held = {
            None,
            "start" if entry.before == "start" else None,
            "end" if after == "end" else None,
            "word" if (entry.before == "word") != (after == "word") else "no word",
        }
        found, waiting = {entry.node}, [entry.node]
        while waiting:
            for place, target in self._empty[waiting.pop()]:
                if place in held and target not in found:
                    found.add(target)
                    waiting.append(target)
        return frozenset(found)

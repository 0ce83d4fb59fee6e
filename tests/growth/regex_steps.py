"""How many steps a regular expression takes, counted by a matcher that backtracks as `re` does.

`re` itself tells no count, and time says little on a busy machine. The matcher tries the same
possibilities in the same order: a law compares what it finds with what `re` finds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from re import _compiler, _parser  # type: ignore[attr-defined]
from re import _constants as ops
from typing import Any, TypeAlias

_REPEATS = (ops.MAX_REPEAT, ops.MIN_REPEAT, ops.POSSESSIVE_REPEAT)
_Place: TypeAlias = Iterator[int]
_Part: TypeAlias = Callable[[int, "_Rest"], _Place]
_Rest: TypeAlias = Callable[[int], _Place]


class TooManySteps(Exception):
    """More steps than are worth counting."""


class CountedPattern:
    """A pattern, and the steps that it has taken; `most` ends them."""

    def __init__(self, pattern: re.Pattern[Any], *, most: int = 2_000_000) -> None:
        source = pattern.pattern
        flags = pattern.flags & ~re.UNICODE if isinstance(source, bytes) else pattern.flags
        self._tree = _parser.parse(source, flags)
        self._binary = isinstance(source, bytes)
        self._most = most
        self._text: Any = ""
        self._groups: dict[int, tuple[int, int]] = {}
        self.steps = 0
        self._start = self._sequence(list(self._tree), self._tree.state.flags)

    def match(self, text: str, at: int = 0) -> int | None:
        """Return where a match that begins at a place ends."""
        self._text = text.encode("latin-1", "replace") if self._binary else text
        self._groups = {}
        return next(self._start(at, lambda place: iter((place,))), None)

    def fullmatch(self, text: str) -> bool:
        """Return whether the whole text matches."""
        self._text = text.encode("latin-1", "replace") if self._binary else text
        self._groups, end = {}, len(text)
        whole = self._start(0, lambda place: iter((place,) if place == end else ()))
        return next(whole, None) is not None

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Return all matches, as `finditer` finds them."""
        found, at = [], 0
        while at <= len(text):
            end = self.match(text, at)
            if end is not None:
                found.append((at, end))
            at = at + 1 if end is None or end == at else end
        return found

    def _step(self) -> None:
        self.steps += 1
        if self.steps > self._most:
            raise TooManySteps

    def _sequence(self, nodes: list[Any], flags: int) -> _Part:
        parts = [self._node(node, flags) for node in nodes]

        def run(at: int, rest: _Rest) -> _Place:
            def following(number: int, place: int) -> _Place:
                if number == len(parts):
                    return rest(place)
                return parts[number](place, lambda end: following(number + 1, end))

            return following(0, at)

        return run

    def _node(self, node: Any, flags: int) -> _Part:
        op, value = node
        if op in _REPEATS:
            return self._repeat(op, value, flags)
        if op is ops.BRANCH:
            branches = [self._sequence(list(each), flags) for each in value[1]]
            return lambda at, rest: (end for one in branches for end in one(at, rest))
        if op is ops.SUBPATTERN:
            group, more, less, inner = value
            return self._group(group, self._sequence(list(inner), (flags | more) & ~less))
        if op is ops.ATOMIC_GROUP:
            return self._atomic(self._sequence(list(value), flags))
        if op in (ops.ASSERT, ops.ASSERT_NOT):
            return self._assertion(op is ops.ASSERT, value, flags)
        if op is ops.GROUPREF:
            return self._reference(value)
        return self._one(node, flags)

    def _one(self, node: Any, flags: int) -> _Part:
        """Return what matches one character, or a place: by `re` itself."""
        state = _parser.State()
        state.flags = flags
        state.str = b"" if self._binary else ""
        matches = _compiler.compile(_parser.SubPattern(state, [node]), flags).match

        def run(at: int, rest: _Rest) -> _Place:
            self._step()
            found = matches(self._text, at)
            return iter(()) if found is None else rest(found.end())

        return run

    def _group(self, group: int | None, inner: _Part) -> _Part:
        def run(at: int, rest: _Rest) -> _Place:
            def ended(end: int) -> _Place:
                if group is None:
                    yield from rest(end)
                    return
                before = self._groups.get(group)
                self._groups[group] = (at, end)
                yield from rest(end)
                if before is None:
                    self._groups.pop(group, None)
                else:
                    self._groups[group] = before

            return inner(at, ended)

        return run

    def _atomic(self, inner: _Part) -> _Part:
        def run(at: int, rest: _Rest) -> _Place:
            end = next(inner(at, lambda place: iter((place,))), None)
            if end is not None:
                yield from rest(end)

        return run

    def _assertion(self, wanted: bool, value: Any, flags: int) -> _Part:
        direction, inner = value
        part = self._sequence(list(inner), flags)
        width = inner.getwidth()[0] if direction < 0 else 0

        def run(at: int, rest: _Rest) -> _Place:
            self._step()
            begin = at - width
            here = part(begin, lambda place: iter((place,))) if begin >= 0 else iter(())
            if (next(here, None) is not None) is wanted:
                yield from rest(at)

        return run

    def _reference(self, group: int) -> _Part:
        def run(at: int, rest: _Rest) -> _Place:
            self._step()
            start, end = self._groups.get(group, (0, -1))
            same = end >= 0 and self._text.startswith(self._text[start:end], at)
            return rest(at + end - start) if same else iter(())

        return run

    def _repeat(self, op: Any, value: Any, flags: int) -> _Part:
        least, most, inner = value
        part = self._sequence(list(inner), flags)
        if list(inner) and inner.getwidth() == (1, 1) and op is not ops.MIN_REPEAT:
            return self._repeated_character(op, part, least, most)
        if op is ops.POSSESSIVE_REPEAT:
            return self._repeated_possessively(part, least, most)

        def again(count: int, at: int, rest: _Rest) -> _Place:
            self._step()
            if count >= least and op is ops.MIN_REPEAT:
                yield from rest(at)
            if count < most:
                yield from part(
                    at,
                    lambda end: (
                        again(count + 1, end, rest) if end > at or count < least else iter(())
                    ),
                )
            if count >= least and op is not ops.MIN_REPEAT:
                yield from rest(at)

        return lambda at, rest: again(0, at, rest)

    def _repeated_character(self, op: Any, part: _Part, least: int, most: int) -> _Part:
        def run(at: int, rest: _Rest) -> _Place:
            end = at
            while end - at < most and next(part(end, lambda place: iter((place,))), None):
                end += 1
            lowest = end if op is ops.POSSESSIVE_REPEAT else at + least
            for place in range(end, max(lowest, at + least) - 1, -1):
                self._step()
                yield from rest(place)

        return run

    def _repeated_possessively(self, part: _Part, least: int, most: int) -> _Part:
        def run(at: int, rest: _Rest) -> _Place:
            count = 0
            while count < most:
                end = next(part(at, lambda place: iter((place,))), None)
                if end is None:
                    break
                count += 1
                if end == at:
                    break
                at = end
            if count >= least:
                yield from rest(at)

        return run

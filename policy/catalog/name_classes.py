"""The classes of tools that patterns tell apart by name, each with one tool that stands for it.

Whatever name a tool has, it is matched by the same patterns as the tool of its class. They are
found by reading all patterns at once, letter by letter: a letter that none of them has next is as
good as any other such letter.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from policy.catalog.catalog import identifier_problem
from policy.catalog.pattern import ToolPattern, ToolSelector
from policy.catalog.tool import Origin, ToolSpec, split_version
from policy.values import glob_characters, has_wildcard

# How many states of reading are visited before the patterns are too many.
_MOST_STATES = 20_000
# How many names are followed for each state: the first one may be that of a known tool.
_NAMES = 2
# One of these is in no pattern at a given place: a pattern has one character at each.
_LETTERS = "xyzabcdefghijklmnopqrstuvwXYZABCDEFGHIJKLMNOPQRSTUVW0123456789"
_SEPARATOR = "__"

_Kind: TypeAlias = Literal["host", "mcp", "ext"]
_Glob: TypeAlias = tuple[tuple[str, bool], ...]
# How far a glob has been read: its number, and the place in it.
_Item: TypeAlias = tuple[int, int]


class TooManyPatterns(Exception):
    """So many patterns that their classes are not looked for."""


def patterns_in(selector: ToolSelector) -> Iterator[ToolPattern]:
    """Yield all patterns of a selector, those of its exceptions and of named sets included."""
    for part in (*selector.included, *selector.excluded):
        if isinstance(part, ToolSelector):
            yield from patterns_in(part)
        else:
            yield part


def tools_of_classes(
    patterns: Iterable[ToolPattern], *, within: Iterable[ToolPattern] | None
) -> Iterator[ToolSpec]:
    """Yield a tool of every class of names that patterns tell apart, sometimes several.

    Only tools that a pattern of `within` may match are looked for; None is any. Raises
    TooManyPatterns.
    """
    within = None if within is None else tuple(within)
    known = tuple(dict.fromkeys((*patterns, *(within or ()))))
    live = None if within is None else frozenset(map(known.index, within))
    versions = _versions(known)
    kinds: tuple[_Kind, ...] = ("host", "mcp", "ext")
    for kind in kinds:
        for origin in _Reader(kind, known, live).origins():
            yield ToolSpec(name=origin.flat_name(), origin=origin)
            for version in versions:
                yield ToolSpec(name=origin.flat_name(), origin=origin, version=version)


def _versions(patterns: Iterable[ToolPattern]) -> tuple[int, ...]:
    """Return the versions that patterns name, and one that none does."""
    named = {
        int(number)
        for pattern in patterns
        for number in [split_version(pattern.text)[1]]
        if number is not None and len(number) < 10
    }
    other = next(number for number in range(1, len(named) + 2) if number not in named)
    return (*sorted(named - {0}), other)


@dataclass(frozen=True, slots=True)
class _State:
    """What has been read of each glob; `server` is whether the separator is still to come.

    `ends_low` is whether an identifier of a server ends in `_`, after which none may follow.
    """

    items: frozenset[_Item]
    server: bool
    is_empty: bool = True
    ends_low: bool = False


class _Reader:
    """Reads the names of one kind of origin by all patterns that can match one."""

    def __init__(
        self, kind: _Kind, patterns: tuple[ToolPattern, ...], live: frozenset[int] | None
    ) -> None:
        self._kind = kind
        # By twice the number of a pattern, and for the tool of `mcp SERVER/TOOL` one more.
        self._globs: dict[int, _Glob] = {}
        self._live = None if live is None else frozenset(n * 2 for n in live)
        servers: set[str] = set()
        for number, pattern in enumerate(patterns):
            if pattern.origin is None:
                self._globs[number * 2] = glob_characters(pattern.text)
                servers.update(_spelled_server(pattern.text, kind))
            elif pattern.origin == kind:
                server, _, tool = pattern.text.partition("/")
                self._globs[number * 2] = glob_characters(server)
                self._globs[number * 2 + 1] = glob_characters(tool)
        # A wildcard that grants matches tools of the server whose identifier it spells.
        for number, server in enumerate(sorted(servers), start=len(patterns)):
            self._globs[number * 2] = glob_characters(server)
            self._globs[number * 2 + 1] = (("*", True),)
        self._of_origin = frozenset(n - 1 for n in self._globs if n % 2)

    def origins(self) -> Iterator[Origin]:
        """Yield origins of tools, at least one of each class."""
        items = self._opened((number, 0) for number in self._globs if number % 2 == 0)
        if self._kind == "ext":
            of_origin = frozenset(item for item in items if item[0] in self._of_origin)
            items = of_origin | self._read_flat(items, f"ext{_SEPARATOR}")
        start = _State(items, server=self._kind != "host")
        names: dict[_State, list[tuple[str, str]]] = {start: [("", "")]}
        waiting = deque([(start, ("", ""))])
        while waiting:
            state, name = waiting.popleft()
            if not state.server and not state.is_empty:
                yield Origin(kind=self._kind, server=name[0], tool=name[1])
            for following, longer in self._steps(state, name):
                found = names.setdefault(following, [])
                if len(found) < _NAMES and longer not in found:
                    found.append(longer)
                    waiting.append((following, longer))
            if len(names) > _MOST_STATES:
                raise TooManyPatterns

    def _steps(
        self, state: _State, name: tuple[str, str]
    ) -> Iterator[tuple[_State, tuple[str, str]]]:
        """Yield the states after one more letter, and after the separator, with names there."""
        server, tool = name
        spelled = {
            char
            for number, place in state.items
            for char, is_wild in self._globs[number][place : place + 1]
            if not is_wild
        }
        other = next(letter for letter in _LETTERS if letter not in spelled)
        for letter in (other, *sorted(spelled)):
            if state.server and (letter in "/\\*?" or (letter == "_" and state.ends_low)):
                continue
            items = self._read(state.items, letter)
            if not self._is_live(items):
                continue
            if state.server:
                ends_low = letter == "_"
                after = _State(items, server=True, is_empty=False, ends_low=ends_low)
                yield after, (server + letter, tool)
            else:
                yield _State(items, server=False, is_empty=False), (server, tool + letter)
        if state.server and not state.is_empty:
            items = self._separated(state.items)
            is_name = identifier_problem(Origin(kind=self._kind, server=server)) is None
            if is_name and self._is_live(items):
                yield _State(items, server=False), name

    def _separated(self, items: frozenset[_Item]) -> frozenset[_Item]:
        """Return how far globs are read after the identifier of a server."""
        flat = self._read_flat(items, _SEPARATOR)
        begun = (
            (number + 1, 0)
            for number, place in items
            if number in self._of_origin and place == len(self._globs[number])
        )
        return flat | self._opened(begun)

    def _read_flat(self, items: frozenset[_Item], text: str) -> frozenset[_Item]:
        """Return how far globs of flat names are read after some letters more."""
        found = frozenset(item for item in items if item[0] not in self._of_origin)
        for letter in text:
            found = self._read(found, letter)
        return found

    def _read(self, items: frozenset[_Item], letter: str) -> frozenset[_Item]:
        return self._opened(
            (number, place if char == "*" and is_wild else place + 1)
            for number, place in items
            for char, is_wild in self._globs[number][place : place + 1]
            if is_wild or char == letter
        )

    def _opened(self, items: Iterable[_Item]) -> frozenset[_Item]:
        """Return the places with those behind each `*`, which may stand for nothing."""
        found: set[_Item] = set()
        for number, place in items:
            glob = self._globs[number]
            found.add((number, place))
            while place < len(glob) and glob[place] == ("*", True):
                place += 1
                found.add((number, place))
        return frozenset(found)

    def _is_live(self, items: frozenset[_Item]) -> bool:
        return self._live is None or any(number & ~1 in self._live for number, _ in items)


def _spelled_server(text: str, kind: _Kind) -> Iterator[str]:
    """Yield the server or extension whose identifier a pattern of flat names spells out."""
    rest = text.removeprefix(f"ext{_SEPARATOR}") if kind == "ext" else text
    server, separator, _ = rest.partition(_SEPARATOR)
    if separator and server and kind != "host" and not has_wildcard(server):
        yield server

"""The terminals that a state awaits -> what finds the next token by trying one after the other.

Compiling the expression of a state takes longer than trying a hundred times, and a process that
reads a few rules comes to many states a few times each. What is found is the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from policy.syntax import prebuilt
from policy.syntax.scanner import Found, Scanner, kind_of, said_in

__all__ = ["first_scanner"]

# How often a state is tried before its expression is compiled.
_FEW = 200
_OF_WORDS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")
_LITERAL = _OF_WORDS | {'"'}
_GAP = frozenset(" \t")
# Here each terminal is its own group.
_ALL = tuple(range(len(prebuilt.TERMINALS) + 1))


class _Tried:
    """A token that was found; what a match of an expression tells of it."""

    __slots__ = ("_behind", "_end", "lastindex")

    def __init__(self, terminal: int, end: int, behind: int) -> None:
        self.lastindex = terminal
        self._end = end
        self._behind = behind

    def end(self, group: int = 0, /) -> int:
        """Return where the token ends, or without a group where the blanks behind it do."""
        return self._end if group else self._behind


class _Trying:
    """Tries the terminals of a state in their order, until `settle` gives something better."""

    __slots__ = ("_awaited", "_by_first", "_settle", "_settled", "_tried")

    def __init__(self, awaited: tuple[int, ...], settle: Callable[[], Scanner]) -> None:
        self._awaited = awaited
        self._by_first: dict[str, tuple[tuple[int, str], ...]] = {}
        self._settle = settle
        self._settled: Scanner | None = None
        self._tried = 0

    def match(self, text: str, position: int) -> Found | None:
        """Return the token that begins at a place before the end of the text."""
        if self._settled is not None:
            return _translated(self._settled, text, position)
        self._tried += 1
        if self._tried > _FEW:
            self._settled = self._settle()
        first = text[position]
        tries = self._by_first.get(first)
        if tries is None:
            tries = self._by_first[first] = tuple(_tries(self._awaited, first))
        for terminal, said in tries:
            end = _end_of(said, text, position) if said else _end_by(terminal, text, position)
            if end >= 0:
                blanks = _blanks()(text, end)
                return _Tried(terminal, end, blanks.end() if blanks else end)
        return None


def first_scanner(awaited: tuple[int, ...], settle: Callable[[], Scanner]) -> Scanner:
    """Return the scanner of a state that no text has led to yet.

    `settle` is called once it was asked often, for the scanner to ask instead.
    """
    return Scanner(_Trying(awaited, settle).match, _ALL, {})


def _tries(awaited: tuple[int, ...], first: str) -> list[tuple[int, str]]:
    """Return what may begin with a character: the terminal, and its words; none: an expression."""
    tries: list[tuple[int, str]] = []
    for terminal in awaited:
        _, _, words, expression = prebuilt.TERMINALS[terminal - 1]
        if words:
            tries += [(terminal, said) for said in said_in(words) if said[0] == first]
        elif expression[0] == first or expression[0] not in _LITERAL:
            # An expression that begins with a letter or a quote begins with no other character.
            tries.append((terminal, ""))
    return tries


def _end_of(said: str, text: str, position: int) -> int:
    """Return where the words or the mark end that begin at a place; -1: they do not."""
    end = position
    for part in said.split(" "):
        begin = end
        if begin > position:
            while text[begin : begin + 1] in _GAP:
                begin += 1
            if begin == end:
                return -1
        if not text.startswith(part, begin):
            return -1
        end = begin + len(part)
    is_cut = kind_of(said) == "words" and text[end : end + 1] in _OF_WORDS
    return -1 if is_cut else end


def _end_by(terminal: int, text: str, position: int) -> int:
    found = _expression(terminal)(text, position)
    return found.end() if found else -1


def _translated(scanner: Scanner, text: str, position: int) -> Found | None:
    """Return what another scanner finds, by the numbers that are used here."""
    found = scanner.match(text, position)
    group = found and found.lastindex
    if not found or not group:
        return None
    end = found.end(group)
    terminal = scanner.terminals[group] or scanner.words[text[position:end]]
    return _Tried(terminal, end, found.end())


@cache
def _expression(terminal: int) -> Callable[[str, int], re.Match[str] | None]:
    return re.compile(prebuilt.TERMINALS[terminal - 1][3]).match


@cache
def _blanks() -> Callable[[str, int], re.Match[str] | None]:
    return re.compile(prebuilt.BLANKS).match

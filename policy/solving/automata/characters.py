"""Sets of characters, as sorted ranges of code points that do not touch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

# Inclusive ranges of code points.
Characters: TypeAlias = tuple[tuple[int, int], ...]

_LAST = 0x10FFFF
ALL: Characters = ((0, _LAST),)
DIGITS: Characters = ((48, 57),)
WORD: Characters = ((48, 57), (65, 90), (95, 95), (97, 122))
SPACE: Characters = ((9, 10), (12, 13), (32, 32))
# What people write without thinking: a witness should be made of these.
PRINTABLE: Characters = ((32, 126),)

_PREFERRED = tuple(map(ord, "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ-_./ "))


def characters(ranges: Iterable[tuple[int, int]]) -> Characters:
    """Return the set of these ranges, which may overlap."""
    found: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if found and low <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(high, found[-1][1]))
        else:
            found.append((low, high))
    return tuple(found)


def these(text: str) -> Characters:
    """Return the set of the characters of a string."""
    return characters((ord(char), ord(char)) for char in text)


def without(chars: Characters) -> Characters:
    """Return all other characters."""
    found: list[tuple[int, int]] = []
    start = 0
    for low, high in chars:
        if low > start:
            found.append((start, low - 1))
        start = high + 1
    if start <= _LAST:
        found.append((start, _LAST))
    return tuple(found)


def common(one: Characters, other: Characters) -> Characters:
    """Return the characters that are in both sets."""
    return without(characters((*without(one), *without(other))))


def has(chars: Characters, code: int) -> bool:
    """Return whether a code point is in the set."""
    for low, high in chars:
        if low <= code:
            if code <= high:
                return True
        else:
            return False
    return False


def classes(marks: Mapping[Characters, int], within: Characters) -> list[tuple[int, int]]:
    """Return one code point of `within` for each sum of the marks of sets that it may be in.

    Each mark has bits that no other one has. Ordinary letters are preferred, and come first.
    """
    single: dict[int, int] = {}
    wide: list[tuple[Characters, int]] = []
    for chars, mark in marks.items():
        if len(chars) == 1 and chars[0][0] == chars[0][1]:
            single[chars[0][0]] = mark
        else:
            wide.append((chars, mark))
    edges = {
        edge for chars, _ in (*wide, (within, 0)) for low, high in chars for edge in (low, high + 1)
    }
    beside = {code + 1 for code in single}
    found: dict[int, int] = {}
    for code in (*_PREFERRED, *sorted({*edges, *single, *beside})):
        if code > _LAST or not has(within, code):
            continue
        total = single.get(code, 0)
        for chars, mark in wide:
            if has(chars, code):
                total |= mark
        found.setdefault(total, code)
    return [(code, total) for total, code in found.items()]

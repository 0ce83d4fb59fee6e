"""Sets of characters, as sorted ranges of code points that do not touch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
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

_PREFERRED = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ-_./ "


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
    return any(low <= code <= high for low, high in chars)


def representatives(sets: Iterable[Characters], within: Characters) -> Iterator[int]:
    """Yield one code point of `within` for each way to be in some of the sets and not in others.

    Ordinary letters are preferred, and come first.
    """
    each = tuple(dict.fromkeys(sets))
    seen: set[tuple[bool, ...]] = set()
    edges = {edge for chars in (*each, within) for low, high in chars for edge in (low, high + 1)}
    for code in (*map(ord, _PREFERRED), *sorted(edges)):
        if code > _LAST or not has(within, code):
            continue
        signature = tuple([has(chars, code) for chars in each])
        if signature not in seen:
            seen.add(signature)
            yield code

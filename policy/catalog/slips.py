"""Names in; for a word, the names that one slip of a letter leads to, out. Exact, and quick.

A slip is a letter dropped, added or changed, or two neighbours swapped. Two words one slip apart
become alike when a letter is dropped from one or both of them, so an index by what is left of each
name finds all candidates without comparing with every name (the idea of the symmetric delete
spelling correction, W. Garbe 2012). Missing one would be worse than slow: a name may only be
repaired where no second one fits.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

# Shorter names differ by a letter on purpose; longer ones would make the index large.
SHORTEST = 5
LONGEST = 64


class Slips:
    """The names of one catalogue by their spelling; the index is made when it is first needed."""

    __slots__ = ("_index", "_spelled")

    def __init__(self, spelled: Iterable[tuple[str, str]]) -> None:
        self._spelled = tuple(spelled)
        self._index: Mapping[str, tuple[tuple[str, str], ...]] | None = None

    def of(self, spelling: str) -> tuple[str, ...]:
        """Return every name whose spelling is one slip away, sorted."""
        if not SHORTEST <= len(spelling) <= LONGEST:
            return ()
        index = self._made()
        left = (spelling, *_shortened(spelling))
        near = {pair for key in left for pair in index.get(key, ())}
        return tuple(sorted({name for key, name in near if is_slip(key, spelling)}))

    def _made(self) -> Mapping[str, tuple[tuple[str, str], ...]]:
        if self._index is None:
            index: dict[str, list[tuple[str, str]]] = {}
            for key, name in self._spelled:
                if SHORTEST <= len(key) <= LONGEST:
                    for left in {key, *_shortened(key)}:
                        index.setdefault(left, []).append((key, name))
            self._index = {left: tuple(pairs) for left, pairs in index.items()}
        return self._index


def is_slip(one: str, other: str) -> bool:
    """Tell whether two words are one slip of a letter, or of `_`, apart.

    Digits never slip: `report1` and `report2` are two names that somebody chose.
    """
    if one == other or abs(len(one) - len(other)) > 1:
        return False
    start = 0
    while start < min(len(one), len(other)) and one[start] == other[start]:
        start += 1
    end = 0
    while end < min(len(one), len(other)) - start and one[-1 - end] == other[-1 - end]:
        end += 1
    a, b = one[start : len(one) - end], other[start : len(other) - end]
    if not all(char == "_" or char.isalpha() for char in a + b):
        return False
    return max(len(a), len(b)) == 1 or (len(a) == len(b) == 2 and a == b[::-1])


def _shortened(word: str) -> Iterable[str]:
    return (word[:i] + word[i + 1 :] for i in range(len(word)))

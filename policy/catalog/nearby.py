"""The names of tools in; for a name that is none of them, the few it may be a slip of, out.

Comparing a name letter by letter with every tool's would cost an unknown name the more the more
tools there are. A slip of a few letters leaves most of a name as it was, either before or behind
it, so the tools beside it in alphabetical order, forwards or backwards, are enough; and those of
the same parts in another order.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping

from policy import later
from policy.records import dataclass, field

# So few names are all worth a look.
_FEW = 16
# How many neighbours are looked at on each side, and how many of all are worth a letter by letter
# comparison.
_BESIDE = 16
_BEST = 8
# Slips of more letters are not recognised, and longer texts are not names.
_MOST_SLIPS = 3
_LONGEST = 80
_PARTS = later.pattern(r"[_\-./\s]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Nearby:
    """Names in alphabetical order, in the order of their ends, and by their parts."""

    forwards: tuple[tuple[str, str], ...]
    backwards: tuple[tuple[str, str], ...]
    by_parts: Mapping[tuple[str, ...], str] = field(repr=False)

    def of(self, word: str) -> tuple[str, ...]:
        """Return the names that `word` may be a slip of: a few, whatever their number is."""
        if len(word) > _LONGEST:
            return ()
        target = word.casefold()
        found = [self.by_parts.get(_parts(target)), *_beside(self.forwards, target)]
        found += _beside(self.backwards, target[::-1])
        near = {name for name in found if name is not None and _alike(name.casefold(), target)}
        if len(near) <= _BEST:
            return tuple(near)
        return tuple(
            sorted(near, key=lambda name: (_between(name.casefold(), target), name))[:_BEST]
        )


def nearby(names: Iterable[str]) -> Nearby:
    """Return the names, ready to be asked for neighbours."""
    folded = [(name.casefold(), name) for name in names]
    return Nearby(
        forwards=tuple(sorted(folded)),
        backwards=tuple(sorted((key[::-1], name) for key, name in folded)),
        by_parts={_parts(key): name for key, name in sorted(folded, reverse=True)},
    )


def _beside(ordered: tuple[tuple[str, str], ...], key: str) -> list[str]:
    if len(ordered) <= _FEW:
        return [name for _, name in ordered]
    place = bisect_left(ordered, (key, ""))
    return [name for _, name in ordered[max(0, place - _BESIDE) : place + _BESIDE]]


def _alike(name: str, word: str) -> bool:
    """Tell by length and letters whether a few slips can lead from one to the other."""
    if abs(len(name) - len(word)) > _MOST_SLIPS:
        return False
    return len(set(name) ^ set(word)) <= 2 * _MOST_SLIPS


def _between(name: str, word: str) -> int:
    """Return how many letters lie between the first and the last that differ."""
    start = _common(name, word)
    end = _common(name[start:][::-1], word[start:][::-1])
    return max(len(name), len(word)) - start - end


def _common(a: str, b: str) -> int:
    """Return how many letters two texts begin with alike."""
    for place, (one, other) in enumerate(zip(a, b, strict=False)):
        if one != other:
            return place
    return min(len(a), len(b))


def _parts(name: str) -> tuple[str, ...]:
    return tuple(sorted(_PARTS.split(name)))

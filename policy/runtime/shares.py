"""Shares of something that all callers use, so that none of them can use up what others need."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

# Whoever comes first may have half of it. In the other half nobody gets more than a part.
_HALF = 2
_PART = 16

_ACTING_FOR: ContextVar[Hashable] = ContextVar("placet_acting_for", default=None)


class Shares:
    """How much each owner has of `most` that there is. Used by one thread at a time.

    Half of it is for whoever comes first. The other half is kept for those who have little: nobody
    gets any of it beyond a sixteenth of the whole.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._part = max(1, most // _PART)
        self._had: Counter[Hashable] = Counter()
        self.total = 0

    def of(self, owner: Hashable) -> int:
        """Return how much an owner has."""
        return self._had[owner]

    def has_room(self, owner: Hashable, more: int = 1) -> bool:
        """Return whether an owner may have so much more."""
        total = self.total + more
        if total <= self._most // _HALF:
            return True
        return total <= self._most and self._had[owner] + more <= self._part

    def take(self, owner: Hashable, more: int = 1) -> None:
        """Note that an owner has more, whether there is room or not."""
        self._had[owner] += more
        self.total += more

    def give_back(self, owner: Hashable, less: int = 1) -> None:
        """Note that an owner has less."""
        self._had[owner] -= less
        self.total -= less
        if not self._had[owner]:
            del self._had[owner]


@contextmanager
def acting_for(owner: Hashable) -> Iterator[None]:
    """Let the work that is awaited within the block count as that of an owner."""
    token = _ACTING_FOR.set(owner)
    try:
        yield
    finally:
        _ACTING_FOR.reset(token)


def owner_here() -> Hashable:
    """Return whose work runs here; None outside of `acting_for`."""
    return _ACTING_FOR.get()

"""How much may still be read of scripts within scripts."""

from __future__ import annotations

_NONE: frozenset[str] = frozenset()
_LARGEST = 400_000
# What understanding a command costs, in characters to be read.
COMMAND = 100


class Budget:
    """What is left, so that scripts within scripts cost no more than one long script."""

    __slots__ = ("_left", "computed", "texts")

    def __init__(self, left: int = _LARGEST) -> None:
        self._left = left
        # Variables that scripts share: by the environment, or where one runs in another's shell.
        self.computed: frozenset[str] = frozenset()
        self.texts: frozenset[str] = frozenset()

    def take(self, amount: int) -> bool:
        """Use some up; tell whether there was as much."""
        self._left -= amount + 1
        return self._left >= 0

    def share(self, *, computed: frozenset[str] = _NONE, texts: frozenset[str]) -> None:
        """Note the variables that a script computes with, and those that may hold any text."""
        if computed:
            self.computed |= computed
        if texts:
            self.texts |= texts

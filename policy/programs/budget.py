"""Bounds the work on scripts within scripts."""

from __future__ import annotations

_NONE: frozenset[str] = frozenset()
_LARGEST = 400_000
# The cost of analysing a command, in characters of script text.
COMMAND = 100


class Budget:
    """The remaining budget: nested scripts cost no more than one long script."""

    __slots__ = ("_left", "computed", "texts")

    def __init__(self, left: int = _LARGEST) -> None:
        self._left = left
        # Variables that scripts share: by the environment, or where one runs in another's shell.
        self.computed: frozenset[str] = frozenset()
        self.texts: frozenset[str] = frozenset()

    def spend(self, amount: int) -> bool:
        """Use up an amount; return whether that much was left."""
        self._left -= amount + 1
        return self._left >= 0

    def share(self, *, computed: frozenset[str] = _NONE, texts: frozenset[str]) -> None:
        """Record the variables that arithmetic uses, and those that may hold any text."""
        if computed:
            self.computed |= computed
        if texts:
            self.texts |= texts

"""How much may still be read of what a script runs in turn."""

from __future__ import annotations

_LARGEST = 400_000
# What understanding a command costs, in characters to be read.
COMMAND = 100


class Budget:
    """What is left, so that scripts within scripts cost no more than one long script."""

    __slots__ = ("_left",)

    def __init__(self, left: int = _LARGEST) -> None:
        self._left = left

    def take(self, amount: int) -> bool:
        """Use some up; tell whether there was as much."""
        self._left -= amount + 1
        return self._left >= 0

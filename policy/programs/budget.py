"""Bounds the work on scripts within scripts."""

from __future__ import annotations

from policy.programs.found_paths import Search
from policy.shell import Script

_LARGEST = 400_000
# Resources that the words of a call name: as many as a script has words, since one word may be a
# long list, and each resource is judged.
_MOST_RESOURCES = 2_000
_MOST_CHARACTERS = 1_000_000
# The cost of analysing a command, in characters of script text.
COMMAND = 100


class Budget:
    """The remaining budget: nested scripts cost no more than one long script."""

    __slots__ = (
        "_characters",
        "_left",
        "_resources",
        "computed",
        "concurrent",
        "plain_names",
        "repeats",
        "searches",
        "texts",
    )

    def __init__(self, left: int = _LARGEST, *, plain_names: bool = False) -> None:
        self._left = left
        self._resources, self._characters = _MOST_RESOURCES, _MOST_CHARACTERS
        # Whether lists of paths are taken to be split at the ends of lines alone, and the searches
        # of which that was assumed.
        self.plain_names = plain_names
        self.searches: list[Search] = []
        # Variables that scripts share: by the environment, or where one runs in another's shell.
        self.computed: frozenset[str] = frozenset()
        self.texts: frozenset[str] = frozenset()
        self.concurrent = False
        self.repeats = False

    def spend(self, amount: int) -> bool:
        """Use up an amount; return whether that much was left."""
        self._left -= amount + 1
        return self._left >= 0

    def name_resource(self, text: str) -> bool:
        """Count a resource that a word names; return whether there may be that many."""
        self._resources -= 1
        self._characters -= len(text)
        return self._resources >= 0 and self._characters >= 0

    def share(self, script: Script) -> None:
        """Record what concerns the whole call: variables that scripts share, and their structure.

        Arithmetic uses some variables, and some may hold any text.
        """
        self.computed |= script.computed
        self.texts |= script.texts
        self.concurrent = self.concurrent or script.concurrent
        self.repeats = self.repeats or script.repeats

    def share_texts(self, names: frozenset[str]) -> None:
        """Record variables that may hold any text."""
        self.texts |= names

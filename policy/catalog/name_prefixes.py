"""Finds tools by the prefix of their name, without a look at all the others."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable

from policy.catalog.tool import ToolSpec


class NamePrefixes:
    """The tools of a catalogue sorted by name, on first use."""

    __slots__ = ("_names", "_specs")

    def __init__(self, specs: tuple[ToolSpec, ...]) -> None:
        self._specs = specs
        self._names: list[tuple[str, int]] | None = None

    def of(self, beginnings: Iterable[str]) -> tuple[ToolSpec, ...]:
        """Return the tools whose full name begins with one of these, in catalogue order."""
        wanted = set(beginnings)
        if "" in wanted:
            return self._specs
        if self._names is None:
            self._names = sorted((spec.name, place) for place, spec in enumerate(self._specs))
        names = self._names
        found: set[int] = set()
        for beginning in wanted:
            at = bisect_left(names, (beginning, -1))
            while at < len(names) and names[at][0].startswith(beginning):
                found.add(names[at][1])
                at += 1
        return tuple(self._specs[place] for place in sorted(found))

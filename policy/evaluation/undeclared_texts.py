"""Finds, among strings that may be paths, those that may be in some set of a tool's rules.

A path that no item of any set can match is in none of the sets. So each string of a call is looked
up once, in the items of all sets together, and few are tried with each.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from policy.checks import checked
from policy.evaluation.declared_resources import DeclaredResources
from policy.evaluation.set_items import prepared_paths
from policy.values import PreparedPaths


class EveryPathSet:
    """The items of all sets of paths that tests of a tool are about, exceptions disregarded."""

    __slots__ = ("_items", "_known")

    def __init__(self) -> None:
        self._items: dict[Any, None] = {}
        self._known: tuple[int, PreparedPaths] | None = None

    def add(self, values: checked.ValueSet) -> None:
        """Add the items of a set."""
        self._items.update(dict.fromkeys(_items_of(values)))

    def prepared(self) -> PreparedPaths:
        """Return them as one set: the same object until items are added."""
        items = tuple(self._items)
        known = self._known
        if known is None or known[0] != len(items):
            # Another thread may add items meanwhile: how many there were belongs to the result.
            known = self._known = len(items), prepared_paths(items, ())
        return known[1]


def every_path_set(declared: DeclaredResources) -> EveryPathSet:
    """Return the sets of a tool's tests, to which each test adds its own."""
    found: EveryPathSet = declared.tests.setdefault(EveryPathSet, EveryPathSet())
    return found


def _items_of(values: checked.ValueSet) -> Iterator[Any]:
    for part in values.included:
        if isinstance(part, checked.ValueSet):
            yield from _items_of(part)
        else:
            yield part

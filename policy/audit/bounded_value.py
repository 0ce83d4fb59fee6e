"""Copies any value into a frozen JSON value of bounded size, with the cuts marked.

Every call must be recorded, so nothing here depends on the value being JSON, being shallow, or
being small.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from decimal import Decimal
from itertools import islice
from types import MappingProxyType
from typing import Any

from policy.model import Frozen

_DEEPEST = 24
_CUT = "…"


class _Budget:
    """How many characters and nodes may still be kept of one value; shared by all of its parts."""

    def __init__(self, characters: int, nodes: int) -> None:
        self.characters = characters
        self.nodes = nodes
        self.cut = False

    def take(self, text: str) -> str:
        if len(text) <= self.characters:
            self.characters -= len(text)
            return text
        kept = text[: self.characters] + _CUT
        self.characters = 0
        self.cut = True
        return kept

    def spent(self) -> bool:
        self.nodes -= 1
        return self.nodes < 0 or self.characters <= 0


def bounded(value: Any, *, characters: int = 16_384, nodes: int = 2_048) -> tuple[Frozen, bool]:
    """Return a frozen copy of at most this size, and whether anything had to be left out."""
    budget = _Budget(characters, nodes)
    return _copy(value, budget, depth=0), budget.cut


def _copy(value: Any, budget: _Budget, *, depth: int) -> Frozen:
    if budget.spent() or depth > _DEEPEST:
        budget.cut = True
        return _CUT
    kind = type(value)
    if kind is str:
        return budget.take(value)
    if value is None or kind is bool:
        return value  # type: ignore[no-any-return]
    if kind is dict or kind is MappingProxyType:
        return _copy_object(value, budget, depth=depth)
    if isinstance(value, int):
        return value if value.bit_length() <= 256 else _long_integer(value, budget)
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, Decimal):
        return budget.take(str(value))
    if isinstance(value, str):
        return budget.take(value)
    if isinstance(value, (bytes, bytearray)):
        start = bytes(value[: budget.characters + 1])
        return budget.take(start.decode("utf-8", "backslashreplace"))
    return _copy_container(value, budget, depth=depth)


def _copy_container(value: Any, budget: _Budget, *, depth: int) -> Frozen:
    if isinstance(value, Mapping):
        return _copy_object(value, budget, depth=depth)
    if isinstance(value, (list, tuple)):
        kept: list[Frozen] = []
        for item in _within(value, budget):
            kept.append(_copy(item, budget, depth=depth + 1))
        return tuple(kept)
    budget.cut = True
    return f"<{type(value).__name__}>"


def _copy_object(value: Mapping[Any, Any], budget: _Budget, *, depth: int) -> Frozen:
    kept: dict[str, Frozen] = {}
    for key in _within(value, budget):
        name = budget.take(key if isinstance(key, str) else f"<{type(key).__name__}>")
        kept[name] = _copy(value[key], budget, depth=depth + 1)
    return MappingProxyType(kept)


def _within(items: Iterable[Any], budget: _Budget) -> Iterable[Any]:
    """Yield items while the budget lasts, one past its end so that the cut is marked."""
    for item in islice(items, max(budget.nodes, 0) + 1):
        yield item
        if budget.nodes < 0 or budget.characters <= 0:
            budget.cut = True
            return


def _long_integer(value: int, budget: _Budget) -> str:
    """Return a placeholder for an integer whose digits would take long to write."""
    budget.cut = True
    return budget.take(f"<integer of {value.bit_length()} bits>")

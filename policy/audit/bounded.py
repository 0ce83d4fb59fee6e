"""Any value in, a frozen JSON value of bounded size out, with the cuts marked.

A record must be written whatever was asked, so nothing here depends on the value being JSON, being
shallow, or being small.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from decimal import Decimal
from itertools import islice
from types import MappingProxyType
from typing import Any

from policy.call import Frozen

_DEEPEST = 24
_CUT = "…"
# No integer of more bits is written in digits.
_WIDEST = 1 << 63
_TEXTS = frozenset({str})
_SIZED = frozenset({dict, MappingProxyType, list, tuple})


class _Budget:
    """What may still be kept of one value: characters and nodes, shared by all of its parts."""

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


def bounded(
    value: Any, *, characters: int = 16_384, nodes: int = 2_048, quick: bool = True
) -> tuple[Frozen, bool]:
    """Return a frozen copy of at most this size, and whether anything had to be left out.

    Without `quick` small values are taken for no better than others; the result is the same.
    """
    if quick:
        kept = whole(value, characters=characters, nodes=nodes)
        if kept is not None:
            return kept, False
    budget = _Budget(characters, nodes)
    return _copy(value, budget, depth=0), budget.cut


def whole(
    value: Any, *, characters: int = 16_384, nodes: int = 2_048
) -> Mapping[str, Frozen] | None:
    """Return a frozen copy of a small object of plain JSON; None for every other value.

    Such a copy is the value itself, so that it has the same digest.
    """
    kind = type(value)
    if (kind is not dict and kind is not MappingProxyType) or len(value) > nodes:
        return None
    kept = dict(value)
    left = _Left(nodes // 2, characters // 2)
    return MappingProxyType(kept) if _is_whole(kept, left, depth=0) else None


class _Left:
    """How many nodes and characters a value may still have to pass for a small one.

    They are half of what there is room for, so that what passes is cut nowhere.
    """

    __slots__ = ("characters", "nodes")

    def __init__(self, nodes: int, characters: int) -> None:
        self.nodes = nodes
        self.characters = characters


def _is_whole(kept: dict[Any, Any], left: _Left, *, depth: int) -> bool:
    """Tell whether an object is small and plain; freezes in it what can be written to."""
    left.nodes -= len(kept) + 1
    if not _TEXTS.issuperset(map(type, kept)):
        return False
    size = sum(map(len, kept))
    for key, item in kept.items():
        kind = type(item)
        if kind is str:
            size += len(item)
        elif kind is int:
            if not -_WIDEST < item < _WIDEST:
                return False
        elif kind is not bool and item is not None:
            frozen = _frozen(item, left, depth=depth)
            if frozen is None:
                return False
            # Of a key that is there already, so that what is gone through keeps its size.
            kept[key] = frozen
    left.characters -= size
    return left.characters >= 0 and left.nodes >= 0


def _frozen(value: Any, left: _Left, *, depth: int) -> Frozen:
    """Return a frozen copy of a small number, object or array; None for what is none."""
    kind = type(value)
    if kind is float:
        return value if math.isfinite(value) else None
    if depth >= _DEEPEST // 2 or (kind in _SIZED and len(value) > left.nodes):
        return None
    if kind is dict or kind is MappingProxyType:
        kept = dict(value)
        return MappingProxyType(kept) if _is_whole(kept, left, depth=depth + 1) else None
    if kind is list or kind is tuple:
        # As an object whose fields are places.
        kept = {str(place): item for place, item in enumerate(value)}
        return tuple(kept.values()) if _is_whole(kept, left, depth=depth + 1) else None
    return None


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
    """Return what stands for an integer whose digits would take long to write."""
    budget.cut = True
    return budget.take(f"<integer of {value.bit_length()} bits>")

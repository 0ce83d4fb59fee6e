"""Numeric bounds: of a field by its schema, and whether several leave any number."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, TypeAlias

from policy.catalog import Schema, SchemaView, joined_parts
from policy.checks.names.known_tools import KnownTool
from policy.values import compare_numbers, is_number

Bound: TypeAlias = tuple[str, Any]

_WORDS = {
    "minimum": ">=",
    "exclusiveMinimum": ">",
    "maximum": "<=",
    "exclusiveMaximum": "<",
}
_NUMBERS = frozenset({"integer", "number", "null"})
# How many combined parts of a schema are followed.
_MOST_PARTS = 20


def bounds_of(tool: KnownTool, steps: tuple[str, ...]) -> tuple[Bound, ...]:
    """Return the bounds that a tool's schema puts on a field, as operators with numbers.

    There are none where a value that is not a number may be read.
    """
    types = tool.view.certain(steps).types
    return bounds_at(tool.view, steps) if types <= _NUMBERS else ()


@lru_cache(maxsize=16_384)
def bounds_at(view: SchemaView, steps: tuple[str, ...]) -> tuple[Bound, ...]:
    """Return the bounds that a schema puts on a field."""
    node = view.node(steps)
    return () if node is None else tuple(_bounds(node, view.schema))


def is_unsatisfiable(bounds: Iterable[Bound]) -> bool:
    """Return whether no number is within all of the bounds."""
    lower: Bound | None = None
    upper: Bound | None = None
    for op, number in bounds:
        if op in ("==", ">", ">=") and _is_tighter(lower, op, number, beyond=">"):
            lower = (op, number)
        if op in ("==", "<", "<=") and _is_tighter(upper, op, number, beyond="<"):
            upper = (op, number)
    if lower is None or upper is None:
        return False
    open_end = lower[0] == ">" or upper[0] == "<"
    return compare_numbers(">=" if open_end else ">", lower[1], upper[1]) is True


def _is_tighter(held: Bound | None, op: str, number: Any, *, beyond: str) -> bool:
    if held is None or compare_numbers(beyond, number, held[1]) is True:
        return True
    return op == beyond and compare_numbers("==", number, held[1]) is True


def _bounds(node: Schema, root: Schema) -> Iterator[Bound]:
    todo = [node]
    for _ in range(_MOST_PARTS):
        if not todo:
            return
        part = todo.pop()
        for word, op in _WORDS.items():
            if is_number(part.get(word)):
                yield op, part[word]
        todo.extend(joined_parts(part, root))

"""Which values of a field a tool's schema may accept."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from policy.catalog import SchemaView
from policy.checks import bounds_at
from policy.evaluation import ABSENT
from policy.values import compare_numbers, is_number

# Up to here, and down to its negative, whole numbers are doubles.
_SAFE = 2**53


def accepted_values(view: SchemaView, name: str, values: Iterable[Any]) -> tuple[Any, ...]:
    """Return those of the values that the schema may accept for a field of the input."""
    info = view.lookup((name,))
    if not info.known:
        return tuple(values)
    if info.choices is not None:
        there = tuple(choice for choice in info.choices if choice is not None)
    else:
        bounds = bounds_at(view, (name,))
        there = tuple(
            value
            for value in values
            if value is not ABSENT
            and _is_of(value, info.types)
            and not (is_number(value) and _is_beyond(value, bounds))
        )
    return there if is_always_there(view, name) else (ABSENT, *there)


def bounds_in(view: SchemaView, name: str) -> tuple[Any, ...]:
    """Return the numbers with which a schema bounds a field: samples have to tell them apart."""
    return tuple(number for _, number in bounds_at(view, (name,)))


def is_always_there(view: SchemaView, name: str) -> bool:
    """Return whether every call that the schema accepts has a field, by itself or by a default."""
    return view.is_always_there((name,))


def _is_of(value: Any, types: frozenset[str]) -> bool:
    if "any" in types:
        return True
    match value:
        case bool():
            return "boolean" in types
        case int():
            return bool(types & {"integer", "number"})
        case float():
            return "number" in types or ("integer" in types and value.is_integer())
        case str():
            return "string" in types
        case tuple() | list():
            return "list" in types
        case Mapping():
            return "object" in types
        case _:
            return True


def _is_beyond(number: Any, bounds: tuple[tuple[str, Any], ...]) -> bool:
    if compare_numbers("==", number, 0) is not None:
        return any(compare_numbers(op, number, bound) is False for op, bound in bounds)
    # It stands for all numbers that are no doubles, the least of which is `_SAFE` + 1.
    below = any(op in ("<", "<=", "==") and bound <= _SAFE for op, bound in bounds)
    return below and any(op in (">", ">=", "==") and bound >= -_SAFE for op, bound in bounds)

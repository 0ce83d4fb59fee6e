"""Which values of a field a tool's schema may accept."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from decimal import Context, Decimal
from types import MappingProxyType
from typing import Any, TypeAlias

from policy.catalog import SchemaView
from policy.checks import bounds_at
from policy.evaluation import ABSENT
from policy.values import compare_numbers, is_number

Bound: TypeAlias = tuple[str, Any]

# What makes a number too long for a double; its size does not matter.
_MANY_DIGITS = tuple(Decimal(f"1.0000000000000000000000001e{place}") for place in (0, -1, -9, -99))
_TESTS: Mapping[str, Callable[[Any, Any], bool]] = MappingProxyType(
    {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
)
_EXACTLY = Context(prec=1_000)
# What schemas demand of values that is left to the engine.
_DEMANDS = frozenset(
    "pattern format multipleOf not allOf anyOf oneOf if contains uniqueItems minProperties "
    "maxProperties propertyNames patternProperties dependentRequired dependentSchemas".split()
)
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
            _within(value, bounds)
            for value in values
            if value is not ABSENT
            and _is_of(value, info.types)
            and not (is_number(value) and _is_beyond(value, bounds, info.types))
        )
    return there if is_always_there(view, name) else (ABSENT, *there)


def bounds_in(view: SchemaView, name: str) -> tuple[Any, ...]:
    """Return the numbers with which a schema bounds a field: samples have to tell them apart."""
    return tuple(number for _, number in bounds_at(view, (name,)))


def demands_more(node: Any) -> bool:
    """Return whether a schema demands more than types, values, bounds and lengths."""
    return isinstance(node, Mapping) and not _DEMANDS.isdisjoint(node)


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


def _within(value: Any, bounds: tuple[Bound, ...]) -> Any:
    """Return a value; for one that is no double, another such that is within the bounds.

    It is the same where none was found.
    """
    if not bounds or not is_number(value) or compare_numbers("==", value, 0) is not None:
        return value
    ends = [_decimal(bound) for _, bound in bounds]
    steps = [way * step for step in _MANY_DIGITS for way in (1, -1)]
    tried = (_EXACTLY.add(end, step) for end in ends for step in steps)
    return next((number for number in tried if _meets(number, bounds)), value)


def _meets(number: Decimal, bounds: tuple[Bound, ...]) -> bool:
    return all(_TESTS[op](number, _decimal(bound)) for op, bound in bounds)


def _decimal(number: Any) -> Decimal:
    return Decimal(repr(number)) if isinstance(number, float) else Decimal(number)


def _is_beyond(number: Any, bounds: tuple[Bound, ...], types: frozenset[str]) -> bool:
    if compare_numbers("==", number, 0) is not None:
        return any(compare_numbers(op, number, bound) is False for op, bound in bounds)
    # It stands for all numbers that are no doubles. With enough digits they are between any two
    # numbers; among whole numbers, the least of them is `_SAFE` + 1.
    if types & {"any", "number"}:
        return False
    below = any(op in ("<", "<=", "==") and bound <= _SAFE for op, bound in bounds)
    return below and any(op in (">", ">=", "==") and bound >= -_SAFE for op, bound in bounds)

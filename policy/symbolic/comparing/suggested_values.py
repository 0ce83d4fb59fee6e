"""Values of fields and facts with the sizes that an assignment gives their quantities."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Any

from policy.evaluation import ABSENT
from policy.symbolic.comparing.field_quantities import FieldQuantities
from policy.symbolic.comparing.quantity import EPOCH, Quantity
from policy.symbolic.situation import Values
from policy.symbolic.subjects import Subject

_LONGEST = 10_000  # characters or items
_LETTER = "a"
# Sizes are told from each other where they are values of variables.
Sizes = Mapping[int, Fraction]


def suggested_values(
    fields: FieldQuantities, sizes: Sizes, holding: frozenset[int], chosen: Values
) -> dict[Subject, Any]:
    """Return values that have these sizes, as far as values can be made up.

    `chosen` are values that stand for those of the assignment, of fields and facts.
    """
    found: dict[Subject, Any] = {}
    for path, quantity in fields.paths.items():
        value = _of_kind(quantity, sizes, holding)
        if value is not None:
            _put(found, path, value)
    for function, path, quantity in fields.functions():
        size = _size(quantity, sizes)
        if size is None:
            continue
        if function == "length" and quantity.number in holding and 0 <= size <= _LONGEST:
            of_list = isinstance(chosen.get(path), tuple)
            _put(found, path, (_LETTER,) * int(size) if of_list else _LETTER * int(size))
        if function == "time" and quantity.moment in holding:
            moment = _moment(size)
            _put(found, path, None if moment is None else moment.isoformat())
    return {subject: value for subject, value in found.items() if value is not None}


def _of_kind(quantity: Quantity, sizes: Sizes, holding: frozenset[int]) -> Any:
    size = _size(quantity, sizes)
    if size is None:
        return None
    if quantity.number in holding:
        return int(size) if size.denominator == 1 else float(size)
    if quantity.moment in holding:
        return _moment(size)
    return None


def _size(quantity: Quantity, sizes: Sizes) -> Fraction | None:
    value = quantity.value
    return value.value(sizes) if value.variables <= sizes.keys() else None


def _moment(size: Fraction) -> datetime | None:
    try:
        return EPOCH + timedelta(microseconds=int(size))
    except OverflowError:
        return None


def _put(found: dict[Subject, Any], path: Subject, value: Any) -> None:
    """Give the field or fact at a path a value; what is within a field belongs to the field."""
    if path[0] != "input" or len(path) <= 2:
        found[path] = value
        return
    inside = found.get(path[:2])
    inside = dict(inside) if isinstance(inside, dict) else {}
    found[path[:2]] = inside
    for name in path[2:-1]:
        inside = inside.setdefault(name, {})
    if value is not ABSENT:
        inside[path[-1]] = value

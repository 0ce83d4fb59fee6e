"""Equality and order of values; values of different types are indeterminate."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from policy.evaluation.truth import Absent, Indeterminate, Truth, Value, all_true
from policy.values import (
    compare_numbers,
    is_number,
    is_ordinary,
    normalise,
    takes_long,
    without_invisible,
)

_TOO_DEEP = 64


def equal(left: Value, right: Value) -> Truth:
    """Return whether two values are equal; numbers by value, strings in NFC."""
    return _equal(left, right, depth=0)


def _equal(left: Value, right: Value, *, depth: int) -> Truth:
    if isinstance(left, str) and isinstance(right, str):
        return _equal_texts(left, right)
    if isinstance(left, bool) or isinstance(right, bool):
        if isinstance(left, bool) and isinstance(right, bool):
            return left is right
        return _different_kinds()
    if is_number(left) and is_number(right):
        return _numbers("==", left, right)
    if isinstance(left, datetime) and isinstance(right, datetime):
        return left == right
    if isinstance(left, timedelta) and isinstance(right, timedelta):
        return left == right
    if depth > _TOO_DEEP:
        return Indeterminate("values nested too deeply to compare")
    if isinstance(left, tuple) and isinstance(right, tuple):
        return _equal_lists(left, right, depth=depth + 1)
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return _equal_objects(left, right, depth=depth + 1)
    return _different_kinds()


def _equal_texts(left: str, right: str) -> Truth:
    if is_ordinary(left) and is_ordinary(right):
        return left == right
    if takes_long(left) or takes_long(right):
        return Indeterminate("a string has very long runs of combining marks")
    one, other = normalise(left), normalise(right)
    answer = one == other
    if answer != (without_invisible(one) == other) or answer != (one == without_invisible(other)):
        return Indeterminate("the string has invisible characters")
    return answer


def _equal_lists(left: tuple[Any, ...], right: tuple[Any, ...], *, depth: int) -> Truth:
    if len(left) != len(right):
        return False
    return all_true(_equal_or_null(a, b, depth=depth) for a, b in zip(left, right, strict=True))


def _equal_objects(left: Mapping[str, Any], right: Mapping[str, Any], *, depth: int) -> Truth:
    if left.keys() != right.keys():
        return False
    return all_true(_equal_or_null(left[key], right[key], depth=depth) for key in left)


def _equal_or_null(left: Value, right: Value, *, depth: int) -> Truth:
    for item in (left, right):
        if isinstance(item, Indeterminate):
            return item
    nulls = [item is None or isinstance(item, Absent) for item in (left, right)]
    return all(nulls) if any(nulls) else _equal(left, right, depth=depth)


def ordered(op: str, left: Value, right: Value) -> Truth:
    """Return whether `left op right` for `<`, `<=`, `>` or `>=` on numbers, times or durations."""
    if is_number(left) and is_number(right):
        return _numbers(op, left, right)
    for kind in (datetime, timedelta):
        if isinstance(left, kind) and isinstance(right, kind):
            return _compare(op, left, right)
    return Indeterminate("only numbers, times and durations have an order")


def _compare(op: str, left: Any, right: Any) -> bool:
    match op:
        case "<":
            return bool(left < right)
        case "<=":
            return bool(left <= right)
        case ">":
            return bool(left > right)
        case _:
            return bool(left >= right)


def _numbers(op: str, left: Value, right: Value) -> Truth:
    answer = compare_numbers(op, left, right)
    return (
        Indeterminate("a number with more digits than a double can represent")
        if answer is None
        else answer
    )


def _different_kinds() -> Indeterminate:
    return Indeterminate("values of different types are compared")

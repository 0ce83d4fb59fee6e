"""Exact comparison and arithmetic; None for a number that a double cannot represent."""

from __future__ import annotations

import operator
from collections.abc import Callable
from decimal import Context, Decimal, DecimalException, DivisionByZero, Inexact, InvalidOperation
from decimal import Overflow as DecimalOverflow
from math import isfinite
from typing import Any

# Up to here every integer is a double, so that the fast comparison is exact.
_SAFE = 2**53
# Enough for the sum of the largest and the smallest double; a longer result is None.
_EXACT = Context(prec=1600, traps=[Inexact, InvalidOperation, DivisionByZero, DecimalOverflow])
_MOST_DIGITS = 400
_PLAIN = frozenset({int, float, Decimal})
_TESTS: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def is_number(value: object) -> bool:
    """Return whether `value` is a number; booleans are not."""
    if type(value) in _PLAIN:
        return True
    return isinstance(value, (int, float, Decimal)) and not isinstance(value, bool)


def exact(value: object) -> Decimal | int | None:
    """Return the value of a number by its digits, or None if a double cannot represent it."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        if -_SAFE <= value <= _SAFE:
            return value
        return value if _survives(value) else None
    if isinstance(value, float):
        return Decimal(repr(value)) if isfinite(value) else None
    return None


def number_in_text(text: str) -> Decimal | int | None:
    """Return the number that some program may read in a string: `1.0`, `01`, `+1`, `1e3`, `0x1`.

    None for one with more digits than the largest and the smallest double.
    """
    if len(text) > _MOST_DIGITS:
        return None
    try:
        number: Decimal | int = int(text, 0)
    except ValueError:
        try:
            number = Decimal(text)
        except InvalidOperation:
            return None
    if isinstance(number, Decimal):
        return number if number.is_finite() and abs(number.adjusted()) < _MOST_DIGITS else None
    return number


def number_text(number: Decimal | int) -> str:
    """Return the digits of a number, without an exponent and without zeros that say nothing."""
    text = f"{number:f}" if isinstance(number, Decimal) else str(number)
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def compare_numbers(op: str, a: object, b: object) -> bool | None:
    """Compare by `==`, `!=`, `<`, `<=`, `>` or `>=`; None unless both are exact numbers."""
    test = _TESTS[op]
    if type(a) is int and type(b) is int and -_SAFE <= a <= _SAFE and -_SAFE <= b <= _SAFE:
        return test(a, b)
    if _is_quick(a) and _is_quick(b):
        return test(a, b)
    left, right = exact(a), exact(b)
    if left is None or right is None:
        return None
    return test(left, right)


def add(a: object, b: object) -> int | float | None:
    """Return the exact sum, or None if a double cannot represent it."""
    return _reckon(a, b, how=_EXACT.add)


def subtract(a: object, b: object) -> int | float | None:
    """Return the exact difference, or None if a double cannot represent it."""
    return _reckon(a, b, how=_EXACT.subtract)


def multiply(a: object, b: object) -> int | float | None:
    """Return the exact product, or None if a double cannot represent it."""
    return _reckon(a, b, how=_EXACT.multiply)


def _reckon(
    a: object, b: object, *, how: Callable[[Decimal, Decimal], Decimal]
) -> int | float | None:
    left, right = exact(a), exact(b)
    if left is None or right is None:
        return None
    try:
        result = how(Decimal(left), Decimal(right))
    except DecimalException:
        return None
    if not _survives(result):
        return None
    whole = isinstance(left, int) and isinstance(right, int)
    return int(result) if whole else float(result)


def _is_quick(value: object) -> bool:
    """Return whether Python's own comparison with another such number is exact."""
    if type(value) is int:
        return -_SAFE <= value <= _SAFE
    return type(value) is float and isfinite(value)


def _survives(value: int | Decimal) -> bool:
    """Return whether the nearest double, written out again, has the same digits."""
    try:
        nearest = float(value)
    except OverflowError:
        return False
    return isfinite(nearest) and Decimal(repr(nearest)) == value

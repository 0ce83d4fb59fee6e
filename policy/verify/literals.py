"""Converts the literals in a test to JSON values."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from decimal import Decimal
from typing import Any

from policy.model import Frozen, freeze
from policy.syntax import tree
from policy.values import is_number, parse_duration


class NotData(Exception):
    """An expression that is not a literal; carries the expression."""

    def __init__(self, expr: tree.Expr) -> None:
        super().__init__("not a literal")
        self.expr = expr


def value_of(expr: tree.Expr) -> Frozen:
    """Return the JSON value of a literal, frozen. Raises NotData for anything else."""
    return freeze(_value(expr))


def _value(expr: tree.Expr) -> Any:
    match expr:
        case tree.Text() | tree.Boolean():
            return expr.value
        case tree.Number():
            return _number(expr.value)
        case tree.Negate(operand=tree.Number(value=value)):
            return _number(-value)
        case tree.Null():
            return None
        case tree.ListLiteral():
            return [_value(item) for item in expr.items]
        case tree.ObjectLiteral():
            return {key: _value(item) for key, item in expr.entries}
        case tree.Duration():
            return f"{expr.amount}{expr.unit}"
        case _:
            raise NotData(expr)


def _number(value: int | Decimal) -> int | float | Decimal:
    """Return a number as a call's JSON would contain it: a double if that keeps all digits."""
    if isinstance(value, int):
        return value
    held = float(value)
    return held if Decimal(repr(held)) == value else value


def duration_of(duration: tree.Duration) -> timedelta:
    """Return a duration, limited to the longest that `timedelta` can hold."""
    read = parse_duration(f"{duration.amount}{duration.unit}")
    return read if isinstance(read, timedelta) else timedelta.max


def same_json(left: Any, right: Any) -> bool:
    """Return whether two JSON values are equal; `1` and `1.0` are, `1` and `true` are not."""
    if is_number(left) and is_number(right):
        return bool(left == right)
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return left.keys() == right.keys() and all(same_json(left[k], right[k]) for k in left)
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        return len(left) == len(right) and all(map(same_json, left, right))
    return type(left) is type(right) and bool(left == right)

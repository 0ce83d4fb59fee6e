"""A resolved expression: its value, its known type, and its path from the input."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from policy.catalog import Step
from policy.checks.checked import Constant, Value
from policy.checks.conditions.value_types import ANY, ValueType, type_of


@dataclass(frozen=True, slots=True, kw_only=True)
class TypedValue:
    """A value, its known type, and its path if it is a part of the input."""

    value: Value
    type: ValueType = ANY
    path: tuple[Step, ...] | None = None


def literal(value: Any) -> TypedValue:
    """Return a literal value, with its type."""
    return TypedValue(value=Constant(value=value), type=type_of(value))

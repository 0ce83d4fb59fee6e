"""An expression as it was read: its value, its certain type, and its path from the input."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from policy.catalog import Step
from policy.checks.checked import Constant, Value
from policy.checks.conditions.value_types import ANY, ValueType, type_of


@dataclass(frozen=True, slots=True, kw_only=True)
class TypedValue:
    """A value, what is certain of it, and its way from the input where it is a part of it."""

    value: Value
    kind: ValueType = ANY
    path: tuple[Step, ...] | None = None


def literal(value: Any) -> TypedValue:
    """Return a value as written, with its kind."""
    return TypedValue(value=Constant(value=value), kind=type_of(value))

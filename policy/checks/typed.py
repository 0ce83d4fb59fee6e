"""An expression as it was read: its value, its certain type, and its path from the input."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from policy.catalog import Step
from policy.checks.checked import Constant, Value
from policy.checks.kinds import ANY, Kind, kind_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Typed:
    """A value, what is certain of it, and its way from the input where it is a part of it."""

    value: Value
    kind: Kind = ANY
    path: tuple[Step, ...] | None = None


def literal(value: Any) -> Typed:
    """Return a value as written, with its kind."""
    return Typed(value=Constant(value=value), kind=kind_of(value))

"""`Quantity`: what may be compared in a condition, as a literal for each kind and a size."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Any

from policy.evaluation import Absent, Indeterminate
from policy.solving import Polynomial
from policy.values import compare_numbers, is_number

MICROSECOND = timedelta(microseconds=1)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
KINDS = ("absent", "unclear", "number", "moment", "duration", "other")


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """A value in a condition: a literal for each kind, of which exactly one holds, and its size.

    `unclear` is indeterminate; `other` a string, boolean, list or object, or a number that no
    double represents, and `sized` that it is one of those with a length. The value of a time is in
    microseconds since `EPOCH`, that of a duration in microseconds.
    """

    absent: int
    unclear: int
    number: int
    moment: int
    duration: int
    other: int
    sized: int
    value: Polynomial


def kind_and_size(value: Any) -> tuple[str, Fraction]:
    """Return the kind of a value of a condition, and its size, 0 if it has none."""
    match value:
        case None | Absent():
            return "absent", Fraction(0)
        case Indeterminate():
            return "unclear", Fraction(0)
        case datetime() if value.tzinfo is not None:
            return "moment", Fraction((value - EPOCH) // MICROSECOND)
        case timedelta():
            return "duration", Fraction(value // MICROSECOND)
        case _ if is_number(value) and compare_numbers("==", value, 0) is not None:
            return "number", Fraction(repr(value)) if isinstance(value, float) else Fraction(value)
        case _:
            return "other", Fraction(0)


def is_sized(value: Any) -> bool:
    """Return whether a value has a length."""
    return isinstance(value, (str, tuple, list, Mapping))

"""`Bound`: that a polynomial without a constant is at most, or at least, a number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from policy.solving.arithmetic.polynomials import Polynomial


@dataclass(frozen=True, slots=True)
class Bound:
    """What a literal says of a polynomial: at most `limit`, or below it if `strict`.

    For `upper` False it is at least the limit, or above it.
    """

    literal: int
    polynomial: Polynomial
    limit: Fraction
    strict: bool
    upper: bool

    def holds(self, values: Mapping[int, Fraction]) -> bool:
        """Return whether it is true of values of the variables."""
        value = self.polynomial.value(values)
        if value == self.limit:
            return not self.strict
        return (value < self.limit) == self.upper

"""`Polynomial`: sums of products of numbers that are not known, with exact coefficients."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from math import gcd
from typing import TypeAlias

# The variables of a product, in order; a variable is its number. The empty one is the constant.
Monomial: TypeAlias = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Polynomial:
    """Monomials with coefficients other than zero, in the order of the monomials."""

    terms: tuple[tuple[Monomial, Fraction], ...]

    @staticmethod
    def of(terms: Iterable[tuple[Monomial, Fraction]]) -> Polynomial:
        """Return the sum of terms, of which several may have the same monomial."""
        found: dict[Monomial, Fraction] = {}
        for monomial, factor in terms:
            found[monomial] = found.get(monomial, Fraction(0)) + factor
        return Polynomial(tuple(sorted((m, f) for m, f in found.items() if f)))

    @staticmethod
    def constant(value: int | Fraction) -> Polynomial:
        """Return a number that is known."""
        return Polynomial.of([((), Fraction(value))])

    def __add__(self, other: Polynomial) -> Polynomial:
        return Polynomial.of((*self.terms, *other.terms))

    def __neg__(self) -> Polynomial:
        return self.times(Fraction(-1))

    def __sub__(self, other: Polynomial) -> Polynomial:
        return self + -other

    def __mul__(self, other: Polynomial) -> Polynomial:
        return Polynomial.of(
            (tuple(sorted((*one, *two))), first * second)
            for one, first in self.terms
            for two, second in other.terms
        )

    def times(self, factor: Fraction) -> Polynomial:
        """Return the polynomial, multiplied by a number."""
        return Polynomial.of((monomial, each * factor) for monomial, each in self.terms)

    @property
    def known(self) -> Fraction:
        """The constant in the sum."""
        return next((factor for monomial, factor in self.terms if not monomial), Fraction(0))

    @property
    def unknown(self) -> Polynomial:
        """The rest of the sum."""
        return Polynomial(tuple(term for term in self.terms if term[0]))

    @property
    def degree(self) -> int:
        """The length of the longest product."""
        return max((len(monomial) for monomial, _ in self.terms), default=0)

    @property
    def variables(self) -> frozenset[int]:
        """The variables in it."""
        return frozenset(each for monomial, _ in self.terms for each in monomial)

    @property
    def size(self) -> Fraction:
        """The largest number by which all coefficients are whole; negative if the first one is.

        Divided by it, polynomials that are multiples of each other are the same.
        """
        below = reduce(lambda a, b: a * b // gcd(a, b), (f.denominator for _, f in self.terms), 1)
        above = reduce(gcd, (int(f * below) for _, f in self.terms), 0)
        found = Fraction(above, below)
        return -found if self.terms and self.terms[0][1] < 0 else found

    def value(self, of: Mapping[int, Fraction]) -> Fraction:
        """Return the value for values of the variables."""
        return sum((f * _product(of[each] for each in m) for m, f in self.terms), Fraction(0))


def _product(values: Iterable[Fraction]) -> Fraction:
    return reduce(lambda a, b: a * b, values, Fraction(1))

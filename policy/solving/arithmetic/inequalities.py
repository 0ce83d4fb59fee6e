"""`Inequalities`: which sums and products of numbers are below others, as a theory of a search.

The numbers are free. Bounds of variables and differences are decided here, and of other sums and
products what follows from bounds of their variables; the rest by z3 if it is installed. What is not
decided may hold.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from math import ceil, floor
from typing import Literal, TypeAlias

from policy.solving.arithmetic import differences, intervals
from policy.solving.arithmetic.bounds import Bound
from policy.solving.arithmetic.by_z3 import Z3
from policy.solving.arithmetic.polynomials import Polynomial
from policy.solving.clauses import Clauses

# Why an assignment was left open: z3 is not installed, or did not come to an end, or there were too
# many assignments that say too much of numbers.
LeftOpen: TypeAlias = Literal["", "missing", "unfinished", "spent"]
# Bounds that are looked at, of all assignments of one search.
_MOST_BOUNDS = 150_000
# The limit, and whether the polynomial is at most that (1) or below it (0).
_Limit: TypeAlias = tuple[Fraction, int]


class Inequalities:
    """Literals that say that polynomials are below, or at most, zero."""

    def __init__(self, clauses: Clauses) -> None:
        self._clauses = clauses
        self._whole: set[int] = set()
        self._count = 0
        # The limits of each polynomial in order, and their literals.
        self._limits: dict[Polynomial, list[_Limit]] = {}
        self._literals: dict[Polynomial, list[int]] = {}
        self._z3: Z3 | None = None
        self.left_open: LeftOpen = ""
        self._left = _MOST_BOUNDS
        clauses.theories.append(self)

    def variable(self, *, whole: bool) -> Polynomial:
        """Return a new number, which is a whole one or any."""
        self._count += 1
        if whole:
            self._whole.add(self._count)
        return Polynomial.of([((self._count,), Fraction(1))])

    def is_whole(self, polynomial: Polynomial) -> bool:
        """Return whether a polynomial is a whole number, whatever its variables are."""
        factors = (factor.denominator == 1 for _, factor in polynomial.terms)
        return all(factors) and polynomial.variables <= self._whole

    def at_most_zero(self, polynomial: Polynomial) -> int:
        """Return the literal that a polynomial is zero or below."""
        return self._bounded(polynomial, 1)

    def below_zero(self, polynomial: Polynomial) -> int:
        """Return the literal that a polynomial is below zero."""
        return self._bounded(polynomial, 0)

    def zero(self, polynomial: Polynomial) -> int:
        """Return the literal that a polynomial is zero."""
        return self._clauses.all_of([self.at_most_zero(polynomial), self.at_most_zero(-polynomial)])

    def refute(self, holding: frozenset[int]) -> list[list[int]]:
        """Return clauses that exclude what the assignment says of numbers, if it cannot be."""
        if self._left <= 0:
            self.left_open = "spent"
            return []
        bounds = list(self._related(self._tightest(holding)))
        self._left -= len(bounds)
        near = [bound for bound in bounds if differences.is_difference(bound.polynomial)]
        conflict = differences.contradiction(near)
        if conflict is not None:
            return [[-bound.literal for bound in conflict]]
        if len(near) == len(bounds):
            return []
        conflict = intervals.contradiction(bounds)
        if conflict is not None:
            return [[-bound.literal for bound in conflict]]
        found = self._by_z3(bounds)
        return [] if found is None else [[-literal for literal in found]]

    def values(self, holding: frozenset[int]) -> Mapping[int, Fraction]:
        """Return values of variables as an assignment says, as far as some were found.

        A variable is the number of its polynomial, as in `Polynomial.variables`.
        """
        bounds = list(self._tightest(holding))
        if all(differences.is_difference(bound.polynomial) for bound in bounds):
            return differences.values(bounds, self._whole) or {}
        found = self._z3 and self._z3.values(bounds)
        return found or intervals.values(bounds, self._whole) or {}

    def _by_z3(self, bounds: list[Bound]) -> tuple[int, ...] | None:
        if self._z3 is None and self.left_open != "missing":
            try:
                self._z3 = Z3(frozenset(self._whole))
            except ImportError:
                self.left_open = "missing"
        if self._z3 is None:
            return None
        found = self._z3.contradiction(bounds)
        if self._z3.is_unfinished:
            self.left_open = "unfinished"
        return found

    def _bounded(self, polynomial: Polynomial, at_most: int) -> int:
        rest = polynomial.unknown
        if not rest.terms:
            known = polynomial.known
            return self._clauses.true if known < at_most and known <= 0 else self._clauses.false
        size = rest.size
        limit = -polynomial.known / size
        rest = rest.times(1 / size)
        if size > 0:
            return self._literal(rest, (limit, at_most))
        return -self._literal(rest, (limit, 1 - at_most))

    def _literal(self, polynomial: Polynomial, limit: _Limit) -> int:
        if self.is_whole(polynomial):
            limit = (Fraction(floor(limit[0]) if limit[1] else ceil(limit[0]) - 1), 1)
        limits = self._limits.setdefault(polynomial, [])
        literals = self._literals.setdefault(polynomial, [])
        place = bisect_left(limits, limit)
        if place < len(limits) and limits[place] == limit:
            return literals[place]
        found = self._clauses.variable()
        if place:
            self._clauses.require(-literals[place - 1], found)
        if place < len(limits):
            self._clauses.require(-found, literals[place])
        limits.insert(place, limit)
        literals.insert(place, found)
        return found

    def _tightest(self, holding: frozenset[int]) -> Iterator[Bound]:
        """Yield the bounds of an assignment, of each polynomial the least and the greatest.

        From some limit on, a polynomial is below all of them: so clauses require.
        """
        for polynomial, limits in self._limits.items():
            whole = self.is_whole(polynomial)
            literals = self._literals[polynomial]
            place = bisect_left(literals, 1, key=holding.__contains__)
            if place < len(limits):
                (limit, at_most), literal = limits[place], literals[place]
                yield Bound(literal, polynomial, limit, strict=not at_most, upper=True)
            if place:
                (limit, at_most), literal = limits[place - 1], literals[place - 1]
                least = limit + 1 if whole else limit
                strict = bool(at_most) and not whole
                yield Bound(-literal, polynomial, least, strict=strict, upper=False)

    def _related(self, bounds: Iterable[Bound]) -> Iterator[Bound]:
        """Yield the bounds that may contradict others than those of the same polynomial."""
        known = list(bounds)
        used: dict[int, set[Polynomial]] = {}
        for bound in known:
            for variable in bound.polynomial.variables:
                used.setdefault(variable, set()).add(bound.polynomial)
        for bound in known:
            polynomial = bound.polynomial
            alone = all(len(used[variable]) == 1 for variable in polynomial.variables)
            if not alone or (len(polynomial.terms) > 1 or polynomial.degree > 1):
                yield bound

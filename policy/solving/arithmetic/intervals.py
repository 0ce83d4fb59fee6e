"""Whether bounds of variables contradict bounds of their sums and products: by intervals.

That is right where it finds a contradiction, and finds few: each sum by itself, and each factor of
a product as if it were another variable.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import ceil, floor, prod

from policy.solving.arithmetic.bounds import Bound
from policy.solving.arithmetic.polynomials import Monomial, Polynomial

# How far variables without a bound are from zero or their other bound, in values that are tried.
_FAR = (10, 1_000, 10**6)


def contradiction(bounds: Iterable[Bound]) -> tuple[Bound, ...] | None:
    """Return bounds that exclude each other, None if none are known to."""
    ends, others = _divided(bounds)
    for bound in others:
        least = _least(bound.polynomial if bound.upper else -bound.polynomial, ends)
        if least is None:
            continue
        limit = bound.limit if bound.upper else -bound.limit
        if least.value > limit or (least.value == limit and (bound.strict or least.strict)):
            return (bound, *dict.fromkeys(least.because))
    return None


def values(bounds: Iterable[Bound], whole: Collection[int] = ()) -> dict[int, Fraction] | None:
    """Return values at the ends of intervals with which all bounds hold, if some do."""
    asked = list(bounds)
    ends, others = _divided(asked)
    variables = sorted({each for bound in asked for each in bound.polynomial.variables})
    for far in _FAR:
        low, high = (
            {each: _inside(each, ends, whole, upper=upper, far=far) for each in variables}
            for upper in (False, True)
        )
        tried = [high, low]
        for bound in others:
            at_most = {m[0]: (factor > 0) == bound.upper for m, factor in bound.polynomial.terms}
            tried.append({each: (low if at_most.get(each) else high)[each] for each in variables})
        for found in tried:
            if all(one.holds(found) for one in asked):
                return found
    return None


# The bounds of each variable, by it and by whether it is the upper one.
_Ends = Mapping[tuple[int, bool], Bound]


@dataclass(frozen=True, slots=True)
class _Least:
    """A number below which a polynomial is not, and that it is not either if `strict`."""

    value: Fraction
    strict: bool
    because: tuple[Bound, ...]


def _divided(bounds: Iterable[Bound]) -> tuple[_Ends, list[Bound]]:
    """Return the bounds of variables, and those of other polynomials."""
    ends: dict[tuple[int, bool], Bound] = {}
    others: list[Bound] = []
    for bound in bounds:
        match bound.polynomial.terms:
            case (((one,), 1),):
                ends[one, bound.upper] = bound
            case _:
                others.append(bound)
    return ends, others


def _least(polynomial: Polynomial, ends: _Ends) -> _Least | None:
    """Return the least value of a polynomial by the ends of its variables; None without one."""
    value, strict = Fraction(0), False
    because: tuple[Bound, ...] = ()
    for monomial, factor in polynomial.terms:
        found = _least_of_term(monomial, factor, ends)
        if found is None:
            return None
        value, strict = value + found.value, strict or found.strict
        because = (*because, *found.because)
    return _Least(value, strict, because)


def _least_of_term(monomial: Monomial, factor: Fraction, ends: _Ends) -> _Least | None:
    if len(monomial) == 1:
        end = ends.get((monomial[0], factor < 0))
        return None if end is None else _Least(factor * end.limit, end.strict, (end,))
    used = [ends.get((each, upper)) for each in monomial for upper in (False, True)]
    known = tuple(end for end in used if end is not None)
    if len(known) < len(used):
        return None
    limits = [(known[at].limit, known[at + 1].limit) for at in range(0, len(known), 2)]
    # A product is least at a corner. Whether it can be there is not looked into.
    least = min(factor * prod(corner) for corner in product(*limits))
    return _Least(least, strict=False, because=known)


def _inside(
    variable: int, ends: _Ends, whole: Collection[int], *, upper: bool, far: int
) -> Fraction:
    """Return a value near an end of a variable, which its bounds mostly admit."""
    is_whole = variable in whole
    end, other = (_end(variable, ends, is_whole=is_whole, upper=one) for one in (upper, not upper))
    if end is not None:
        return end
    away = Fraction(far if upper else -far)
    if other is None:
        return away
    return (max if upper else min)(other, Fraction(0)) + away


def _end(variable: int, ends: _Ends, *, is_whole: bool, upper: bool) -> Fraction | None:
    bound = ends.get((variable, upper))
    if bound is None:
        return None
    if is_whole:
        return Fraction(floor(bound.limit) if upper else ceil(bound.limit))
    return bound.limit + (0 if not bound.strict else -1 if upper else 1)

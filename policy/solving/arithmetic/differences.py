"""Bounds of variables and of differences of two variables: whether they may hold at once.

Such bounds are the edges of a graph, and contradict each other exactly if some cycle is negative
(Bellman and Ford).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from math import floor, lcm
from typing import TypeAlias

from policy.solving.arithmetic.bounds import Bound
from policy.solving.arithmetic.polynomials import Polynomial

# The vertex that stands for zero.
_ZERO = -1
# A length, and how often it is a little less: one for each strict bound.
_Length: TypeAlias = tuple[Fraction | int, int]
# How far from zero values are, at most, as far as that is possible.
_NEAR = (Fraction(20), Fraction(1_000), Fraction(10**6), None)
# How small a strict bound's difference is in values, at first.
_STEPS = (Fraction(1), Fraction(1, 8), Fraction(1, 1024), Fraction(1, 10**6), Fraction(1, 10**12))


@dataclass(frozen=True, slots=True)
class _Edge:
    """That `end` is at most `start` plus a length."""

    start: int
    end: int
    length: _Length
    bound: Bound


def is_difference(polynomial: Polynomial) -> bool:
    """Return whether a polynomial is a variable, or the difference of two."""
    return _ends(polynomial) is not None


def contradiction(bounds: Iterable[Bound]) -> tuple[Bound, ...] | None:
    """Return bounds that exclude each other, None if all of them may hold. All are differences."""
    found = _negative_cycle(_in_whole_numbers(list(_edges(bounds))))
    return None if found is None else tuple(edge.bound for edge in found)


def values(bounds: Iterable[Bound], whole: Collection[int] = ()) -> dict[int, Fraction] | None:
    """Return values with which all bounds hold, if there are some that are not too close.

    They are near zero if that is possible; the variables in `whole` mostly are whole numbers.
    """
    asked = list(bounds)
    found = _values(asked)
    parts = {at: value for at, value in (found or {}).items() if at in whole}
    if all(value.denominator == 1 for value in parts.values()):
        return found
    rounded = [
        _bound(at, Fraction(floor(value)), upper=upper)
        for at, value in parts.items()
        for upper in (True, False)
    ]
    return _values([*asked, *rounded]) or found


def _values(asked: list[Bound]) -> dict[int, Fraction] | None:
    variables = sorted({each for bound in asked for each in bound.polynomial.variables})
    for size in _NEAR:
        near = [_bound(each, size, upper=True) for each in variables if size is not None]
        near += [_bound(each, -size, upper=False) for each in variables if size is not None]
        distances, _, _ = _distances(list(_edges([*asked, *near])))
        for step in _STEPS:
            zero = _value(distances.get(_ZERO, (0, 0)), step)
            found = {
                at: _value(length, step) - zero for at, length in distances.items() if at != _ZERO
            }
            if all(bound.holds(found) for bound in asked):
                return found
    return None


def _bound(variable: int, limit: Fraction, *, upper: bool) -> Bound:
    itself = Polynomial.of([((variable,), Fraction(1))])
    return Bound(0, itself, limit, strict=False, upper=upper)


def _value(length: _Length, step: Fraction) -> Fraction:
    return Fraction(length[0]) + length[1] * step


def _ends(polynomial: Polynomial) -> tuple[int, int] | None:
    """Return the two vertices of which a polynomial is the difference."""
    match polynomial.terms:
        case (((one,), 1),):
            return one, _ZERO
        case (((one,), 1), ((other,), -1)):
            return one, other
        case _:
            return None


def _edges(bounds: Iterable[Bound]) -> Iterator[_Edge]:
    for bound in bounds:
        ends = _ends(bound.polynomial)
        assert ends is not None, "asked about differences alone"
        less = -1 if bound.strict else 0
        if bound.upper:
            yield _Edge(ends[1], ends[0], (bound.limit, less), bound)
        else:
            yield _Edge(ends[0], ends[1], (-bound.limit, less), bound)


def _in_whole_numbers(edges: list[_Edge]) -> list[_Edge]:
    """Return the same edges in a unit in which every length is a whole number, which is faster."""
    unit = lcm(*(edge.length[0].denominator for edge in edges))
    return [replace(edge, length=(int(edge.length[0] * unit), edge.length[1])) for edge in edges]


def _distances(edges: list[_Edge]) -> tuple[dict[int, _Length], dict[int, _Edge], int | None]:
    """Return the distance of each vertex, the edge by which it is reached, and one in a cycle."""
    start: _Length = (0, 0)
    distances = {end: start for edge in edges for end in (edge.start, edge.end)}
    reached: dict[int, _Edge] = {}
    changed: int | None = None
    for _ in range(len(distances) + 1):
        changed = None
        for edge in edges:
            before = distances[edge.start]
            length = (before[0] + edge.length[0], before[1] + edge.length[1])
            if length < distances[edge.end]:
                distances[edge.end] = length
                reached[edge.end] = edge
                changed = edge.end
        if changed is None:
            break
    return distances, reached, changed


def _negative_cycle(edges: list[_Edge]) -> list[_Edge] | None:
    distances, reached, at = _distances(edges)
    if at is None:
        return None
    for _ in distances:  # back into the cycle, from what it leads to
        at = reached[at].start
    cycle = [reached[at]]
    while cycle[-1].start != at:
        cycle.append(reached[cycle[-1].start])
    return cycle

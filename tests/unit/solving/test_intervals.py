"""What intervals say of sums and products, against all small values."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from hypothesis import example, given, settings
from hypothesis import strategies as st

from policy.solving import Polynomial
from policy.solving.arithmetic import intervals
from policy.solving.arithmetic.bounds import Bound
from tests.examples import examples

COUNT = 3
VALUES = [Fraction(one, 2) for one in range(-6, 7)]
LIMITS = st.integers(-8, 8).map(lambda number: Fraction(number, 2))
VARIABLES = st.integers(1, COUNT)
MONOMIALS = st.lists(VARIABLES, min_size=1, max_size=2).map(lambda each: tuple(sorted(each)))
SUMS = st.lists(st.tuples(MONOMIALS, st.sampled_from([-2, -1, 1])), min_size=1, max_size=3)


@st.composite
def _bounds(draw: st.DrawFn) -> list[Bound]:
    ends = [
        _bound(((variable,), 1), limit=draw(LIMITS), strict=draw(st.booleans()), upper=upper)
        for variable in range(1, COUNT + 1)
        for upper in (False, True)
        if draw(st.integers(0, 3))
    ]
    sums = [
        _bound(
            *draw(SUMS), limit=draw(LIMITS), strict=draw(st.booleans()), upper=draw(st.booleans())
        )
        for _ in range(draw(st.integers(1, 2)))
    ]
    return [each for each in (*ends, *sums) if each.polynomial.terms]


def _bound(
    *terms: tuple[tuple[int, ...], int], limit: int | Fraction, strict: bool, upper: bool
) -> Bound:
    total = Polynomial.of((monomial, Fraction(factor)) for monomial, factor in terms)
    return Bound(1, total, Fraction(limit), strict=strict, upper=upper)


@given(_bounds())
@example([_bound(((1, 1), 1), limit=0, strict=True, upper=True)])
@settings(max_examples=examples(300))
def test_what_some_values_meet_is_no_contradiction(bounds: list[Bound]) -> None:
    found = intervals.contradiction(bounds)
    values = intervals.values(bounds)
    if values is not None:
        assert all(bound.holds(values) for bound in bounds)
        assert found is None
    if found is not None:
        assert set(found) <= set(bounds)
        for each in product(VALUES, repeat=COUNT):
            assert not all(one.holds(dict(enumerate(each, start=1))) for one in found)


def test_sums_and_products_of_bounded_variables_have_bounds() -> None:
    ends = [_end(variable, upper=upper) for variable in (1, 2) for upper in (False, True)]
    total = _bound(((1,), 1), ((2,), 1), limit=200, strict=True, upper=False)
    assert set(intervals.contradiction([*ends, total]) or ()) == {total, ends[1], ends[3]}
    exact = _bound(((1,), 1), ((2,), 1), limit=200, strict=False, upper=False)
    assert intervals.contradiction([*ends, exact]) is None
    assert intervals.values([*ends, exact]) == {1: Fraction(100), 2: Fraction(100)}
    squares = _bound(((1, 2), 1), limit=10_000, strict=True, upper=False)
    assert intervals.contradiction([*ends, squares]) == (squares, *ends)
    assert intervals.contradiction([*ends[:3], squares]) is None


def _end(variable: int, *, upper: bool) -> Bound:
    return _bound(((variable,), 1), limit=100 * upper, strict=False, upper=upper)

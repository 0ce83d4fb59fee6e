"""Inequalities, against all small values; and by z3 what differences leave open."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy.solving import Clauses, Inequalities, Model, Polynomial, Search, Unsatisfiable

COUNT, VALUES = 3, range(-2, 3)
# A sum of multiples of variables, and a number: whether it is at most zero, or below.
ROWS = st.tuples(
    st.lists(st.integers(-1, 1), min_size=COUNT, max_size=COUNT), st.integers(-4, 4), st.booleans()
)
DIFFERENCES = st.tuples(
    st.sampled_from([*(((1, -1, 0), (0, 1, -1), (-1, 0, 1), (1, 0, 0), (0, -1, 0)))]),
    st.integers(-4, 4),
    st.booleans(),
)


def _whole(clauses: Clauses) -> tuple[Inequalities, list[Polynomial]]:
    """Return whole numbers of which each is one of the small values."""
    numbers = Inequalities(clauses)
    found = [numbers.variable(whole=True) for _ in range(COUNT)]
    for each in found:
        for sign, end in ((1, VALUES[-1]), (-1, -VALUES[0])):
            bound = each.times(Fraction(sign)) - Polynomial.constant(end)
            clauses.require(numbers.at_most_zero(bound))
    return numbers, found


def _holds(rows: list[tuple[list[int], int, bool]], values: tuple[int, ...]) -> bool:
    sums = [
        (sum(f * v for f, v in zip(factors, values, strict=True)) + more, strict)
        for factors, more, strict in rows
    ]
    return all(total < 0 if strict else total <= 0 for total, strict in sums)


def _agrees(rows: list[tuple[list[int], int, bool]]) -> None:
    clauses = Clauses()
    numbers, variables = _whole(clauses)
    for factors, more, strict in rows:
        total = Polynomial.constant(more)
        for factor, each in zip(factors, variables, strict=True):
            total += each.times(Fraction(factor))
        ask = numbers.below_zero if strict else numbers.at_most_zero
        clauses.require(ask(total))
    possible = any(_holds(rows, values) for values in product(VALUES, repeat=COUNT))
    with Search(clauses, steps=1_000) as search:
        found = search.solve()
        assert isinstance(found, Model if possible else Unsatisfiable)
        if isinstance(found, Model):
            sizes = numbers.values(found.holding)
            values = tuple(each.value({**_ZEROS, **sizes}) for each in variables)
            assert _holds(rows, tuple(map(int, values)))


_ZEROS = {number + 1: Fraction(0) for number in range(COUNT)}


@given(st.lists(DIFFERENCES, min_size=1, max_size=6))
def test_differences_are_decided_without_another_solver(
    rows: list[tuple[list[int], int, bool]],
) -> None:
    _agrees(rows)


@given(st.lists(ROWS, min_size=1, max_size=6))
def test_sums_are_decided_by_z3(rows: list[tuple[list[int], int, bool]]) -> None:
    pytest.importorskip("z3", reason="z3 is installed on Linux on x86-64 alone")
    _agrees(rows)


def test_what_z3_does_not_finish_is_left_open(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("z3", reason="z3 is installed on Linux on x86-64 alone")
    monkeypatch.setattr("policy.solving.arithmetic.by_z3._MOST_WORK", 1)
    clauses = Clauses()
    numbers, (a, *_) = _whole(clauses)
    clauses.require(numbers.below_zero(a * a))
    with Search(clauses, steps=1_000) as search:
        assert isinstance(search.solve(), Model)
    assert numbers.left_open == "unfinished"


def test_without_z3_sums_are_left_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "z3", None)
    clauses = Clauses()
    numbers, (a, b, c) = _whole(clauses)
    clauses.require(numbers.below_zero(Polynomial.constant(2) - a - b))
    clauses.require(numbers.at_most_zero(a + b + c))
    with Search(clauses, steps=1_000) as search:
        assert isinstance(search.solve(), Model)
    assert numbers.left_open == "missing"


def test_a_strict_bound_of_numbers_that_are_not_whole_has_room() -> None:
    clauses = Clauses()
    numbers = Inequalities(clauses)
    a, b = (numbers.variable(whole=False) for _ in range(2))
    zero = Polynomial.constant(0)
    clauses.require(numbers.below_zero(zero - a))
    clauses.require(numbers.below_zero(a - b))
    clauses.require(numbers.below_zero(b - Polynomial.constant(1)))
    with Search(clauses, steps=1_000) as search:
        found = search.solve()
        assert isinstance(found, Model)
        sizes = numbers.values(found.holding)
        assert 0 < a.value(sizes) < b.value(sizes) < 1

"""The search for assignments, against trying all of them."""

from __future__ import annotations

from itertools import combinations, product

from hypothesis import given
from hypothesis import strategies as st

from policy.solving import Clauses, Model, Search, Spent, Unsatisfiable

STEPS = 10_000
VARIABLES = 4
LITERALS = st.integers(1, VARIABLES).flatmap(lambda n: st.sampled_from((n, -n)))
FORMULAS = st.lists(st.lists(LITERALS, min_size=1, max_size=3), max_size=12)


def _holds(literal: int, values: tuple[bool, ...]) -> bool:
    return values[abs(literal) - 1] == (literal > 0)


def _satisfied(formula: list[list[int]], values: tuple[bool, ...]) -> bool:
    return all(any(_holds(literal, values) for literal in clause) for clause in formula)


@given(FORMULAS, st.lists(LITERALS, max_size=3))
def test_an_assignment_is_found_exactly_if_there_is_one(
    formula: list[list[int]], assumptions: list[int]
) -> None:
    clauses = Clauses()
    names = [clauses.variable() for _ in range(VARIABLES)]

    def literal(one: int) -> int:
        return names[abs(one) - 1] * (1 if one > 0 else -1)

    for clause in formula:
        clauses.require(*map(literal, clause))
    wanted = [*formula, *([one] for one in assumptions)]
    possible = [
        values for values in product((False, True), repeat=VARIABLES) if _satisfied(wanted, values)
    ]
    with Search(clauses, steps=STEPS) as search:
        found = search.solve(map(literal, assumptions))
        assert isinstance(found, Model if possible else Unsatisfiable)
        if isinstance(found, Model):
            assert tuple(name in found.holding for name in names) in possible
        elif isinstance(found, Unsatisfiable):
            assert set(found.core) <= set(map(literal, assumptions))


@given(st.lists(LITERALS, max_size=4), st.sampled_from(("all", "any")))
def test_a_gate_holds_exactly_if_its_parts_do(parts: list[int], kind: str) -> None:
    clauses = Clauses()
    names = [clauses.variable() for _ in range(VARIABLES)]
    literals = [names[abs(one) - 1] * (1 if one > 0 else -1) for one in parts]
    gate = clauses.all_of(literals) if kind == "all" else clauses.any_of(literals)
    together = all if kind == "all" else any
    with Search(clauses, steps=STEPS) as search:
        for values in product((False, True), repeat=VARIABLES):
            fixed = [name if value else -name for name, value in zip(names, values, strict=True)]
            expected = together(_holds(one, values) for one in parts)
            assert isinstance(search.solve([*fixed, gate]), Model) == expected
            assert isinstance(search.solve([*fixed, -gate]), Model) != expected


def test_no_part_of_the_smallest_core_can_be_left_out() -> None:
    clauses = Clauses()
    a, b, c, d = (clauses.variable() for _ in range(4))
    clauses.require(-a, -b)
    clauses.require(-c, d)
    with Search(clauses, steps=STEPS) as search:
        assert isinstance(search.solve([a, b, c, d]), Unsatisfiable)
        assert set(search.smallest_core([a, b, c, d])) == {a, b}


def _pigeons(count: int) -> Clauses:
    """Put one pigeon more than there are holes into holes, one each: hard for every solver."""
    clauses = Clauses()
    places = [[clauses.variable() for _ in range(count)] for _ in range(count + 1)]
    for pigeon in places:
        clauses.require(*pigeon)
    for hole in range(count):
        for one, other in combinations(places, 2):
            clauses.require(-one[hole], -other[hole])
    return clauses


def test_a_search_ends_when_its_steps_are_spent() -> None:
    with Search(_pigeons(9), steps=50) as search:
        assert isinstance(search.solve(), Spent)
    with Search(_pigeons(4), steps=STEPS) as search:
        assert isinstance(search.solve(), Unsatisfiable)


def test_the_same_question_gets_the_same_answer() -> None:
    clauses = Clauses()
    names = [clauses.variable() for _ in range(20)]
    for one, other in combinations(names, 2):
        clauses.require(one, -other, names[0])
    found = []
    for _ in range(3):
        with Search(clauses, steps=STEPS) as search:
            found.append(search.solve([-names[3], names[7]]))
    assert found[0] == found[1] == found[2]

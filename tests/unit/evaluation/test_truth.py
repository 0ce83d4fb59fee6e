"""Three-valued logic (Kleene): tables of the connectives; an indeterminate value is no bool."""

from __future__ import annotations

from itertools import product

import pytest

from policy.evaluation import ABSENT, Evaluation, Indeterminate, Truth, negated
from policy.evaluation.truth import Unknown, all_true
from tests.unit.program.compiling import ANN, HERE, program, tools

# What `input.F == "t"` comes to: true, false, undecidable.
VALUES = {True: "t", False: "f", None: 7}
TRUTHS = (True, False, None)


def three(truth: Truth) -> bool | None:
    return None if isinstance(truth, Indeterminate) else truth


def holds(condition: str, **input: object) -> bool | None:
    """Return what a `when` comes to, as True, False or None."""
    asked = program(f"default allow\nno: deny t when {condition}")
    spec = tools().get("t")
    assert spec is not None
    (rule,) = asked.plan(spec, agent="ann", role="owner").layers[0].restricting
    call = Evaluation(spec, input, caller=ANN, facts=HERE, slots=asked.slots)
    return three(rule.matches(call))


def conjunction(*truths: bool | None) -> bool | None:
    return False if False in truths else None if None in truths else True


def disjunction(*truths: bool | None) -> bool | None:
    return True if True in truths else None if None in truths else False


@pytest.mark.parametrize(("a", "b", "c"), list(product(TRUTHS, repeat=3)))
def test_and_and_or_are_those_of_strong_logic(
    a: bool | None, b: bool | None, c: bool | None
) -> None:
    input = {"x": VALUES[a], "y": VALUES[b], "z": VALUES[c]}
    x, y, z = 'input.x == "t"', 'input.y == "t"', 'input.z == "t"'
    assert holds(f"{x} and {y} and {z}", **input) is conjunction(a, b, c)
    assert holds(f"{x} or {y} or {z}", **input) is disjunction(a, b, c)
    assert holds(f"{x} and ({y} or {z})", **input) is conjunction(a, disjunction(b, c))
    assert holds(f"({x} and {y}) or not ({z})", **input) is disjunction(
        conjunction(a, b), None if c is None else not c
    )


@pytest.mark.parametrize("truths", list(product(TRUTHS, repeat=3)))
def test_quantifiers_are_chains_of_and_and_or(truths: tuple[bool | None, ...]) -> None:
    items = [VALUES[truth] for truth in truths]
    assert holds('any e in input.x: e == "t"', x=tuple(items)) is disjunction(*truths)
    assert holds('all e in input.x: e == "t"', x=tuple(items)) is conjunction(*truths)


@pytest.mark.parametrize(("when", "unless"), list(product(TRUTHS, repeat=2)))
def test_the_clauses_of_a_rule_form_one_formula(when: bool | None, unless: bool | None) -> None:
    found = holds('input.x == "t"\n  unless input.y == "t"', x=VALUES[when], y=VALUES[unless])
    assert found is conjunction(when, None if unless is None else not unless)


@pytest.mark.parametrize("truths", list(product(TRUTHS, repeat=3)))
def test_the_conjunction_of_clauses_agrees(truths: tuple[bool | None, ...]) -> None:
    given = [Indeterminate("odd") if truth is None else truth for truth in truths]
    assert three(all_true(given)) is conjunction(*truths)
    assert [three(negated(truth)) for truth in given] == [
        None if truth is None else not truth for truth in truths
    ]


def test_an_undecided_test_has_no_truth() -> None:
    with pytest.raises(TypeError, match="no truth"):
        bool(Indeterminate("odd"))
    with pytest.raises(TypeError, match="no truth"):
        bool(Unknown("never learnt"))


def test_the_smallest_test_that_stopped_is_named() -> None:
    inner = Indeterminate("odd").within("input.x == 1")
    assert inner.within("input.x == 1 and input.y == 2").text == "input.x == 1"
    assert repr(inner) == "Indeterminate('odd')"
    assert repr(ABSENT) == "ABSENT"

"""`Reading`: how the tests of rules become truths, for all calls or for those that can be shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import Any, Protocol

from policy.checks import LayerKey, checked
from policy.evaluation import (
    ConditionScope,
    DeclaredResources,
    Evaluation,
    Indeterminate,
    TestOf,
    compile_test,
)
from policy.program import RulePlan
from policy.solving import Clauses
from policy.symbolic.known_truths import KnownTruths, Row, result
from policy.symbolic.situation import Situation
from policy.symbolic.subjects import Subject
from policy.symbolic.truths import Truths, all_of, any_of, constant

_NUMBER = attrgetter("number")


@dataclass(frozen=True, slots=True)
class Scope:
    """Where a condition stands, as far as its meaning depends on it; as in `ConditionScope`."""

    declared: DeclaredResources
    absent_is_false: bool
    covering: bool = False


@dataclass(frozen=True, slots=True)
class Choice:
    """One value of a field or fact, the literal that the call has it, and such a call.

    `number` is that of the call among the known ones. `before` is the literal that the value of the
    call is earlier in the list of choices, and `so_far` that it is this one or an earlier one.
    """

    value: Any
    literal: int
    number: int
    call: Evaluation
    before: int
    so_far: int


def choices(
    clauses: Clauses,
    base: Situation,
    subject: Subject,
    values: Iterable[Any],
    *,
    slots: int,
    known: KnownTruths,
) -> list[Choice]:
    """Return a choice for each value, of which a call has exactly one; none without values."""
    values = tuple(values)
    if not values:
        return []
    literals = [clauses.variable() for _ in values]
    chain = clauses.exactly_one(literals)
    befores = (clauses.false, *chain)
    calls = [known.call(base, subject, value, slots=slots) for value in values]
    return [
        Choice(value, literal, number, call, before, so_far)
        for value, literal, (number, call), before, so_far in zip(
            values, literals, calls, befores, chain, strict=False
        )
    ]


def table(
    clauses: Clauses, test: Callable[[], TestOf], among: Sequence[Choice], row: Row
) -> Truths:
    """Return the truth of a test by what it gives for each value.

    The choices follow each other, as `choices` returns them. `test` returns the engine's test, and
    `row` has the results that are known.
    """
    missing = [choice for choice in among if choice.number not in row]
    if missing:
        compiled = test()
        for choice in missing:
            row[choice.number] = result(compiled, choice.call)
    # A test is often true for neighbours in the list; however many, two literals are enough.
    runs: dict[bool, list[int]] = {True: [], False: []}
    start = 0
    for truth, run in groupby(map(row.__getitem__, map(_NUMBER, among))):
        end = start + len(tuple(run))
        if truth is not None:
            runs[truth].append(_one_of(clauses, among[start], among[end - 1]))
        start = end
    return Truths(clauses.any_of(runs[True]), clauses.any_of(runs[False]))


def _one_of(clauses: Clauses, first: Choice, last: Choice) -> int:
    """Return the literal that the value of the call is one of those from the first to the last."""
    if first is last:
        return first.literal
    return clauses.all_of([last.so_far, -first.before])


def fixed(clauses: Clauses, test: TestOf, call: Evaluation) -> Truths:
    """Return the truth of a test that is the same for every call."""
    truth = test(call)
    return constant(clauses, None if isinstance(truth, Indeterminate) else truth)


def compiled(test: checked.Test, scope: Scope) -> TestOf:
    """Return the engine's own test of a call."""
    place = ConditionScope(
        declared=scope.declared,
        absent_is_false=scope.absent_is_false,
        covering=scope.covering,
        test=compile_test,
    )
    return compile_test(test, place)


class Reading(Protocol):
    """One way to read conditions; every literal belongs to `clauses`."""

    clauses: Clauses

    def leaf(self, test: checked.Test, scope: Scope) -> Truths:
        """Return the truth of a test that is no combination of others."""
        ...

    def covered(self, plan: RulePlan, declared: DeclaredResources) -> int:
        """Return the literal that every effect of the call is covered by an `allow`."""
        ...

    def applies(self, layer: LayerKey) -> int:
        """Return the literal that a layer applies to the caller."""
        ...

    def admitted(self) -> int:
        """Return the literal that the caller's role does not deny the call."""
        ...


def truth_of(test: checked.Test, scope: Scope, reading: Reading) -> Truths:
    """Return the truth of a condition."""
    match test:
        case checked.AllOf(tests=tests):
            return all_of(reading.clauses, [truth_of(part, scope, reading) for part in tests])
        case checked.AnyOf(tests=tests):
            return any_of(reading.clauses, [truth_of(part, scope, reading) for part in tests])
        case checked.NotOf(test=part):
            return truth_of(part, scope, reading).negated()
        case _:
            return reading.leaf(test, scope)


def demands(
    when: checked.Test | None,
    unless: checked.Test | None,
    declared: DeclaredResources,
    reading: Reading,
    *,
    grants: bool,
    covering: bool = False,
) -> Truths:
    """Return the truth of the clauses of a statement: `when` holds, and `unless` does not.

    `grants` and `covering` are those of its plan.
    """
    parts: list[Truths] = []
    if when is not None:
        scope = Scope(declared, absent_is_false=not grants, covering=covering)
        parts.append(truth_of(when, scope, reading))
    if unless is not None:
        parts.append(truth_of(unless, Scope(declared, absent_is_false=False), reading).negated())
    return all_of(reading.clauses, parts)

"""The outcome of each part of a condition for one call, and the resources that determine it.

For explanations: unlike a decision, this evaluates every part, also those that cannot change the
result any more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Literal, TypeAlias

from policy.checks import checked
from policy.evaluation.condition_scope import ConditionScope, TestOf
from policy.evaluation.conditions import compile_test
from policy.evaluation.effects import KnownResource
from policy.evaluation.evaluation import Evaluation
from policy.evaluation.resource_tests import known_answer
from policy.evaluation.resource_truths import resource_truths, tested_set
from policy.evaluation.set_tests import SetTest
from policy.evaluation.sought_values import compile_sought_values, looks_elsewhere
from policy.evaluation.truth import Indeterminate, Truth, Value
from policy.programs import Invocation

Operator: TypeAlias = Literal["and", "or", "not"]

# How many resources of one test are named: a script may have thousands.
MOST_RESOURCES = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class DecidingResource:
    """A resource that determines the outcome of a resource test.

    `command` is set instead of `item` for a command that another command runs; `why` says what no
    pattern covers, which file of a tree is in the set, or why it is unknown whether one is.
    """

    item: KnownResource
    command: Invocation | None = None
    why: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GroundedValue:
    """A value of the call that a test looks for elsewhere, and where it stands, for people."""

    value: Value
    place: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConditionOutcome:
    """One part of a condition: its truth for a call, that of its own parts, and its resources.

    `values` are those that a test looks for in what the user wrote, or in earlier calls.
    `verb` is that of a resource test: `reads`, `writes`, `runs`, `connects` or `sends`. `fences`:
    the test is about resources that are not in a set (`only X`, `outside X`).
    """

    text: str
    truth: Truth
    operator: Operator | None = None
    parts: tuple[ConditionOutcome, ...] = ()
    resources: tuple[DecidingResource, ...] = ()
    values: tuple[GroundedValue, ...] = ()
    verb: str = ""
    fences: bool = False


OutcomeOf: TypeAlias = Callable[[Evaluation], ConditionOutcome]


def outcome_of_condition(test: checked.Test, place: ConditionScope) -> OutcomeOf:
    """Return the function for the outcome of a condition and of its parts.

    It is compiled when it is first asked: most conditions are never explained. A hook explains
    denials, so that it is compiled once.
    """
    compiled: list[OutcomeOf] = []

    def outcome(call: Evaluation) -> ConditionOutcome:
        if not compiled:
            compiled.append(_compile(test, place))
        return compiled[0](call)

    return outcome


def _compile(test: checked.Test, place: ConditionScope) -> OutcomeOf:
    decide = compile_test(test, place)
    operator, parts = _divided(test)
    if operator is not None:
        inner = [_compile(part, place) for part in parts]
        return lambda call: ConditionOutcome(
            text=test.text,
            truth=decide(call),
            operator=operator,
            parts=tuple(part(call) for part in inner),
        )
    if isinstance(test, checked.ResourceTest):
        return _compile_resources(test, place, decide)
    if looks_elsewhere(test):
        return _compile_sought(test, place, decide)
    return lambda call: ConditionOutcome(text=test.text, truth=decide(call))


def _compile_sought(test: checked.Test, place: ConditionScope, decide: TestOf) -> OutcomeOf:
    sought = compile_sought_values(test, place)

    def outcome(call: Evaluation) -> ConditionOutcome:
        found = islice(sought(call), MOST_RESOURCES)
        return ConditionOutcome(
            text=test.text,
            truth=decide(call),
            values=tuple(GroundedValue(value=value, place=where) for value, where in found),
        )

    return outcome


def _divided(test: checked.Test) -> tuple[Operator | None, tuple[checked.Test, ...]]:
    match test:
        case checked.AllOf(tests=tests):
            return "and", tests
        case checked.AnyOf(tests=tests):
            return "or", tests
        case checked.NotOf(test=inner) if _has_parts(inner):
            return "not", (inner,)
        case _:
            return None, ()


def _compile_resources(
    test: checked.ResourceTest, place: ConditionScope, decide: TestOf
) -> OutcomeOf:
    members = tested_set(test, place.declared, covering=place.covering)

    def outcome(call: Evaluation) -> ConditionOutcome:
        truth = decide(call)
        found = _deciding_resources(test, place, call, truth=truth, members=members)
        return ConditionOutcome(
            text=test.text,
            truth=truth,
            resources=tuple(islice(found, MOST_RESOURCES)),
            verb=test.verb,
            fences=test.form in ("only", "outside"),
        )

    return outcome


def _has_parts(test: checked.Test) -> bool:
    return isinstance(test, checked.AllOf | checked.AnyOf | checked.NotOf | checked.ResourceTest)


def _deciding_resources(
    test: checked.ResourceTest,
    place: ConditionScope,
    call: Evaluation,
    *,
    truth: Truth,
    members: SetTest | None,
) -> Iterator[DecidingResource]:
    """Yield the resources for which the test has the outcome that it has for the whole call.

    A test of some resources that is false, and one of all resources that is true, is determined by
    all of them together: then there are none to name.
    """
    declared = place.declared
    if members is None or test.operand is None or known_answer(test, declared) is not None:
        return
    universal = test.form == "only" or not test.operand.included
    if truth is universal:
        return
    for found in resource_truths(test, declared, call, members=members):
        if isinstance(found.truth, Indeterminate) != isinstance(truth, Indeterminate):
            continue
        if not isinstance(truth, Indeterminate) and found.truth is not truth:
            continue
        why = f"it contains {found.inside}" if found.inside else None
        if isinstance(found.truth, Indeterminate):
            why = found.truth.why
        if not found.uncovered:
            yield DecidingResource(item=found.item, why=why)
        for command, missing in found.uncovered:
            own = command is found.item.thing
            yield DecidingResource(item=found.item, command=None if own else command, why=missing)

"""The values that a condition looks for elsewhere, and where each stands: for people.

Of an `or`, an `and` or a quantifier, only what decides it counts: a recipient that is in a set of
known ones need not stand in what the user wrote as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from policy.checks import checked
from policy.evaluation.condition_scope import ConditionScope, TestOf
from policy.evaluation.conditions import compile_test
from policy.evaluation.evaluation import Evaluation
from policy.evaluation.expressions import bind_variable, compile_value, elements
from policy.evaluation.named_by_user import named_values
from policy.evaluation.truth import Absent, Indeterminate, PartialList, Truth, Value

# Each value, and where it stands. What it yields is worked out as it is asked for.
SoughtValues: TypeAlias = Callable[[Evaluation], Iterator[tuple[Value, str]]]


def looks_elsewhere(test: checked.Test | None) -> bool:
    """Return whether a test looks for values in what the user wrote, or in earlier calls."""
    match test:
        case checked.AllOf(tests=tests) | checked.AnyOf(tests=tests):
            return any(map(looks_elsewhere, tests))
        case checked.NotOf(test=inner) | checked.Quantified(test=inner):
            return looks_elsewhere(inner)
        case _:
            return isinstance(
                test,
                checked.NamedByUser
                | checked.InEarlierCalls
                | checked.FoundInResults
                | checked.FoundInLabelled,
            )


def compile_sought_values(test: checked.Test, place: ConditionScope) -> SoughtValues:
    """Return the function for the values that a test looks for, and where they stand."""
    match test:
        case checked.AllOf(tests=tests):
            return _of_parts(tests, place, settled_by=False)
        case checked.AnyOf(tests=tests):
            return _of_parts(tests, place, settled_by=True)
        case checked.NotOf(test=inner):
            return compile_sought_values(inner, place)
        case checked.Quantified() if looks_elsewhere(test.test):
            return _of_elements(test, place)
        case checked.NamedByUser(left=left):
            value = compile_value(left, place)
            return lambda call: named_values(value, call)
        case checked.InEarlierCalls() | checked.FoundInResults() | checked.FoundInLabelled():
            # Policies without a test of earlier calls do not need this module.
            from policy.evaluation.value_places import places_of_values

            return lambda call: places_of_values(test, place, call)
        case _:
            return lambda call: iter(())


def _of_parts(
    tests: tuple[checked.Test, ...], place: ConditionScope, *, settled_by: bool
) -> SoughtValues:
    parts = [(compile_test(one, place), compile_sought_values(one, place)) for one in tests]

    def sought(call: Evaluation) -> Iterator[tuple[Value, str]]:
        truths = [decide(call) for decide, _ in parts]
        for index in _decisive(truths, settled_by=settled_by):
            yield from parts[index][1](call)

    return sought


def _of_elements(test: checked.Quantified, place: ConditionScope) -> SoughtValues:
    source = compile_value(test.source, place)
    decide: TestOf = compile_test(test.test, place)
    of_one = compile_sought_values(test.test, place)

    def sought(call: Evaluation) -> Iterator[tuple[Value, str]]:
        found = elements(source(call))
        items = found.items if isinstance(found, PartialList) else found
        if isinstance(items, (Absent, Indeterminate)):
            return
        truths = []
        for index, item in enumerate(items):
            bind_variable(call, test.slot, test.index_slot, item=item, index=index)
            truths.append(decide(call))
        for index in _decisive(truths, settled_by=test.kind == "any"):
            bind_variable(call, test.slot, test.index_slot, item=items[index], index=index)
            yield from of_one(call)

    return sought


def _decisive(truths: list[Truth], *, settled_by: bool) -> Iterable[int]:
    """Return which parts decide a whole that one part with the truth `settled_by` settles."""
    settling = [index for index, truth in enumerate(truths) if truth is settled_by]
    unknown = [index for index, truth in enumerate(truths) if isinstance(truth, Indeterminate)]
    return settling or unknown or range(len(truths))

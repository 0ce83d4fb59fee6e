"""What a condition sees of an earlier call: its fields, and its result without labelled parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import TypeAlias, final

from policy.checks import checked
from policy.evaluation.condition_scope import ConditionScope, TestOf
from policy.evaluation.declared_outputs import ReadResult, result_reader
from policy.evaluation.evaluation import Evaluation
from policy.evaluation.past_tools import spec_of, tool_matcher
from policy.evaluation.truth import (
    Indeterminate,
    Truth,
    Unknown,
    Value,
    all_of,
    negated,
    unknown_history,
)
from policy.model import RESULT_NOT_KNOWN, SUCCEEDED, Caller, Facts, PastCall

# Whether a label marks a call.
LabelTest: TypeAlias = Callable[[PastCall], Truth]

_NOBODY, _NOWHERE = Caller(), Facts()


@final
class CallView(Mapping[str, Value]):
    """An earlier call as conditions see it, with the fields of `calls(…)`."""

    __slots__ = ("_now", "_result_of", "call")

    def __init__(self, call: PastCall, now: datetime | None, result_of: ReadResult) -> None:
        self.call = call
        self._now = now
        self._result_of = result_of

    def __getitem__(self, name: str) -> Value:
        call = self.call
        match name:
            case "input":
                return call.input
            case "result":
                return self._result_of(call)
            case "outcome":
                return call.outcome
            case "age":
                return age_of(call, self._now)
            case _:
                raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(("input", "result", "age", "outcome"))

    def __len__(self) -> int:
        return 4


def age_of(call: PastCall, now: datetime | None) -> Value:
    """Return how long ago a call was made; one from the future has the age zero."""
    if call.at is None or now is None:
        why = f"it is not known how long ago `{call.tool}` was called"
        return Unknown(why, about="history")
    return max(now - call.at, timedelta())


def label_test(label: checked.CheckedLabel, place: ConditionScope) -> LabelTest:
    """Return the test of whether a label marks a call of one of its tools.

    It is indeterminate where the call did not succeed, or where its conditions are.
    """
    tests: list[TestOf] = []
    if label.when is not None:
        tests.append(place.test(label.when, replace(place, absent_is_false=True, covering=False)))
    if label.unless is not None:
        other = place.test(label.unless, replace(place, absent_is_false=False, covering=False))
        tests.append(lambda call: negated(other(call)))
    marks = all_of(tests) if tests else None
    matches, slots = tool_matcher(label.tools), label.slots
    result_of = result_reader(label.outputs)

    def test(call: PastCall) -> Truth:
        if not matches(call.called):
            return False
        truth: Truth = True
        if marks is not None:
            subject = Evaluation(
                spec_of(call.called), call.input, caller=_NOBODY, facts=_NOWHERE, slots=slots
            )
            subject.result = result_of(call)
            truth = marks(subject)
        if truth is True and call.outcome != SUCCEEDED:
            return unknown_history(f"{RESULT_NOT_KNOWN} `{call.tool}` is not known")
        return truth

    return test


def unlabelled(
    labels: tuple[checked.CheckedLabel, ...], read: ReadResult, place: ConditionScope
) -> ReadResult:
    """Return the results that `read` has, in which what is labelled, or may be, is not known."""
    tests = [(label, label_test(label, place)) for label in labels]

    def result_of(call: PastCall) -> Value:
        result = read(call)
        for label, marks in tests:
            if isinstance(result, Indeterminate):
                return result
            if marks(call) is not False:
                result = without_fields(result, label)
        return result

    return result_of


def without_fields(result: Value, label: checked.CheckedLabel) -> Value:
    """Return a result in which the fields that a label marks are not known."""
    hidden = unknown_history(f"the label `{label.name}` marks it")
    if not label.fields:
        return hidden
    for steps in label.fields:
        result = _without(result, steps, hidden)
    return result


def _without(value: Value, steps: tuple[str, ...], hidden: Indeterminate) -> Value:
    if not steps:
        return hidden
    if isinstance(value, tuple):
        return tuple([_without(item, steps, hidden) for item in value])
    if not isinstance(value, Mapping):
        # A text may have the field somewhere in it, and so may what is not the expected object.
        return value if value is None else hidden
    if value.get(steps[0]) is None:
        return value
    return MappingProxyType({**value, steps[0]: _without(value[steps[0]], steps[1:], hidden)})

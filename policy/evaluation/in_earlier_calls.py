"""`V in results(TOOLS).a.b`: whether a value is in a field of earlier calls."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

from policy.checks import checked
from policy.evaluation.comparison import equal
from policy.evaluation.condition_scope import ConditionScope, ValueOf
from policy.evaluation.evaluation import Evaluation
from policy.evaluation.expressions import field_of
from policy.evaluation.past_lists import UNKNOWN_HISTORY, PastList, kind_of
from policy.evaluation.truth import ABSENT, Absent, Indeterminate, Truth, Value, unknown_history
from policy.model import PastCall


def compile_in_earlier_calls(
    test: checked.InEarlierCalls, left: ValueOf, place: ConditionScope
) -> ValueOf:
    """Return the test of whether a value is in the field; absent where the value is."""
    past, steps = PastList(test.calls, place), test.steps
    # Without any call to ground it, a value is not known to be wrong.
    needs_a_call = test.calls.kind == "results"

    def decide(call: Evaluation) -> Truth | Absent:
        value = left(call)
        if value is ABSENT or isinstance(value, Indeterminate):
            return value
        history = call.history
        if history is None:
            return unknown_history(UNKNOWN_HISTORY)
        kept, calls = history.kept, past.as_of(history)
        values = kept.fold(calls.key("values", steps), lambda: FieldValues(calls, steps))
        truth = values.has(value, kept.length)
        if truth is not True and kept.running:
            running = FieldValues(calls, steps)
            for number, one in enumerate(kept.running):
                running.add(number, one)
            truth = _either(running.has(value, len(kept.running)), truth)
        if truth is not False:
            return truth
        gap = calls.gap(history)
        if gap is not None:
            return unknown_history(gap[0])
        if needs_a_call and not values.any_before(kept.length):
            return unknown_history("no such call has succeeded")
        return False

    return decide


def _either(one: Truth, other: Truth) -> Truth:
    if one is True or other is True:
        return True
    return other if one is False else one


class FieldValues:
    """The values of a field of calls, each with the position of the first call that has it."""

    def __init__(self, calls: PastList, steps: tuple[str, ...]) -> None:
        self._calls = calls
        self._steps = steps
        self._first: dict[tuple[type, Value], int] = {}
        self._first_of_kind: dict[type, int] = {}
        self._others: list[tuple[int, Value]] = []
        self._unknown: tuple[int, Indeterminate] | None = None
        self._positions: list[int] = []

    def add(self, position: int, call: PastCall) -> None:
        """Add the next call."""
        if not self._calls.includes(call):
            return
        self._positions.append(position)
        for value in _values_at(self._calls.element(call, None), self._steps):
            kind = kind_of(value)
            if isinstance(value, Indeterminate):
                self._unknown = self._unknown or (position, value)
            elif kind is None:
                self._others.append((position, value))
            else:
                self._first.setdefault((kind, value), position)
                self._first_of_kind.setdefault(kind, position)

    def any_before(self, length: int) -> bool:
        """Return whether one of the first `length` calls counts."""
        return bisect_left(self._positions, length) > 0

    def first_with(self, value: Value, length: int) -> int | None:
        """Return the first of so many calls whose field has a value."""
        kind = kind_of(value)
        if kind is not None:
            position = self._first.get((kind, value), length)
            return position if position < length else None
        others = (position for position, each in self._others if equal(value, each) is True)
        return next((position for position in others if position < length), None)

    def has(self, value: Value, length: int) -> Truth:
        """Return whether the field of one of the first `length` calls has a value."""
        kind = kind_of(value)
        if kind is not None and self._first.get((kind, value), length) < length:
            return True
        others = [each for position, each in self._others if position < length]
        if kind is None:
            # As a list first: another thread may be adding calls.
            found = [key for key, position in list(self._first.items()) if position < length]
            others += [each for _, each in found]
        truth = _in_values(value, others)
        if truth is not False:
            return truth
        if kind is not None:
            for other, position in list(self._first_of_kind.items()):
                if other is not kind and position < length:
                    return Indeterminate("values of different types are compared")
        if self._unknown is not None and self._unknown[0] < length:
            return self._unknown[1]
        return False


def _in_values(value: Value, values: list[Value]) -> Truth:
    unsure: Indeterminate | None = None
    for each in values:
        truth = equal(value, each)
        if truth is True:
            return True
        if isinstance(truth, Indeterminate) and unsure is None:
            unsure = truth
    return False if unsure is None else unsure


def _values_at(value: Value, steps: tuple[str, ...]) -> Iterator[Value]:
    """Yield the values of a field; a list stands for its elements at every step."""
    if isinstance(value, tuple):
        for item in value:
            yield from _values_at(item, steps)
    elif not steps:
        if value is not None and value is not ABSENT:
            yield value
    else:
        yield from _values_at(field_of(ABSENT if value is None else value, steps[0]), steps[1:])

"""Compiles a checked value to a function of the call.

Absent and indeterminate operands make the result of every operation absent or indeterminate; the
test of the result decides what that means.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, TypeVar, assert_never

from policy.checks import checked
from policy.evaluation.condition_scope import ConditionScope, TestOf, ValueOf
from policy.evaluation.evaluation import Evaluation
from policy.evaluation.fact_readers import fact_reader
from policy.evaluation.functions import FUNCTIONS
from policy.evaluation.truth import (
    ABSENT,
    Absent,
    Indeterminate,
    PartialList,
    Unknown,
    Value,
    unknown_history,
)
from policy.values import add, is_number, multiply, subtract


def compile_value(  # noqa: C901 (one arm a node)
    value: checked.Value, place: ConditionScope
) -> ValueOf:
    """Return the function that evaluates `value` for a call."""
    match value:
        case checked.Constant(value=constant):
            fixed = constant_value(constant)
            return lambda call: fixed
        case checked.Fact(path=path):
            return fact_reader(path, place.declared)
        case checked.Variable(slot=slot):
            return lambda call: call.locals[slot]
        case checked.FieldOf(base=checked.Fact(path=("input",)), name=name):
            return _input_field(name)
        case checked.FieldOf(base=base, name=name):
            return _step(compile_value(base, place), name)
        case checked.ElementAt(base=base, key=key):
            return _at(compile_value(base, place), compile_value(key, place))
        case checked.ListOf(items=items):
            return _list([compile_value(item, place) for item in items])
        case checked.ObjectOf(entries=entries):
            return _object([(name, compile_value(item, place)) for name, item in entries])
        case checked.FunctionCall(function=function, args=args):
            return _apply(function, [compile_value(arg, place) for arg in args])
        case checked.Selected():
            return _selected(value, place)
        case checked.Arithmetic(op=op, left=left, right=right):
            return _arith(op, compile_value(left, place), compile_value(right, place))
        case checked.EarlierCalls():
            from policy.evaluation.past_lists import PastList

            return PastList(value, place)
        case checked.Negative(operand=operand):
            zero: ValueOf = lambda call: 0  # noqa: E731
            return _arith("-", zero, compile_value(operand, place))
        case _:
            assert_never(value)


def constant_value(value: Any) -> Value:
    """Return a constant as conditions compare it; a number beyond a double is indeterminate."""
    if value is None:
        return ABSENT
    if isinstance(value, Decimal):
        double = float(value)
        if Decimal(repr(double)) != value:
            return Indeterminate("a number with more digits than a double can represent")
        return int(double) if double.is_integer() and abs(double) < 2**53 else double
    return value


def field_of(value: Value, name: str) -> Value:
    """Return the field `name` of a value; on a list, of each element that has it."""
    if isinstance(value, Mapping):
        found = value.get(name)
        return ABSENT if found is None else found
    if isinstance(value, tuple):
        return _step_on_each(value, name)
    if isinstance(value, PartialList):
        return _step_on_known(value, name)
    if isinstance(value, (Absent, Indeterminate)):
        return value
    return Indeterminate(f"`.{name}` of a value that is not an object")


def _step_on_each(items: tuple[Value, ...], name: str) -> Value:
    found: list[Value] = []
    for item in items:
        value = field_of(item, name)
        if isinstance(value, Indeterminate):
            return value
        if isinstance(value, tuple):
            found.extend(value)
        elif not isinstance(value, Absent):
            found.append(value)
    return tuple(found)


def _step_on_known(items: PartialList, name: str) -> Value:
    """Return the field of the elements that are known; others may be missing anywhere."""
    found = _step_on_each(items.items, name)
    if isinstance(found, Indeterminate):
        return found
    return PartialList(found, items.why, sure_from=len(found) + 1)


def _whole(value: Value) -> Value:
    """Return a value of which no part is used where some of it is not known."""
    return unknown_history(value.why) if type(value) is PartialList else value


def _input_field(name: str) -> ValueOf:
    def read(call: Evaluation) -> Value:
        found = call.input.get(name)
        return ABSENT if found is None else found

    return read


def _step(base: ValueOf, name: str) -> ValueOf:
    def read(call: Evaluation) -> Value:
        value = base(call)
        # The usual case first: the field of an object.
        if isinstance(value, Mapping):
            found = value.get(name)
            return ABSENT if found is None else found
        return field_of(value, name)

    return read


def _at(base: ValueOf, key: ValueOf) -> ValueOf:
    def read(call: Evaluation) -> Value:
        value, place = _whole(base(call)), _whole(key(call))
        for part in (value, place):
            if isinstance(part, (Indeterminate, Absent)):
                return part
        if isinstance(value, Mapping) and isinstance(place, str):
            found = value.get(place)
            return ABSENT if found is None else found
        if isinstance(value, tuple) and isinstance(place, int) and not isinstance(place, bool):
            if -len(value) <= place < len(value):
                return ABSENT if value[place] is None else value[place]
            return ABSENT
        return Indeterminate("an index of the wrong type for the value")

    return read


def _list(items: list[ValueOf]) -> ValueOf:
    def read(call: Evaluation) -> Value:
        values = [_whole(item(call)) for item in items]
        for value in values:
            if isinstance(value, Indeterminate):
                return value
        # An absent item keeps its position: each test of it decides what that means.
        return tuple(values)

    return read


def _object(entries: list[tuple[str, ValueOf]]) -> ValueOf:
    def read(call: Evaluation) -> Value:
        values = {name: _whole(item(call)) for name, item in entries}
        for value in values.values():
            if isinstance(value, Indeterminate):
                return value
        return {name: value for name, value in values.items() if not isinstance(value, Absent)}

    return read


def _apply(function: str, args: list[ValueOf]) -> ValueOf:
    body = FUNCTIONS[function]

    def read(call: Evaluation) -> Value:
        return body(*[_whole(arg(call)) for arg in args])

    return read


def _arith(op: str, left: ValueOf, right: ValueOf) -> ValueOf:
    def read(call: Evaluation) -> Value:
        return arithmetic(op, _whole(left(call)), _whole(right(call)))

    return read


def arithmetic(op: str, left: Value, right: Value) -> Value:
    """Return `left op right` for numbers, times and durations."""
    for part in (left, right):
        if isinstance(part, (Indeterminate, Absent)):
            return part
    if is_number(left) and is_number(right):
        how = {"+": add, "-": subtract, "*": multiply}[op]
        result = how(left, right)
        return (
            Indeterminate("the result of arithmetic is beyond a double")
            if result is None
            else result
        )
    try:
        return _reckon_times(op, left, right)
    except OverflowError:
        return Indeterminate("a time beyond the calendar")


def _reckon_times(op: str, left: Value, right: Value) -> Value:
    match op, left, right:
        case "+", datetime(), timedelta():
            return left + right
        case "-", datetime(), timedelta() | datetime():
            return left - right
        case "+", timedelta(), datetime() | timedelta():
            return left + right
        case "-", timedelta(), timedelta():
            return left - right
        case "*", timedelta(), int() if not isinstance(right, bool):
            return left * right
        case "*", int(), timedelta() if not isinstance(left, bool):
            return right * left
    return Indeterminate("arithmetic on values that are not numbers, times or durations")


# ------------------------------------------------------------------ selections


def elements(value: Value) -> tuple[Value, ...] | Absent | Indeterminate:
    """Return the elements of a list; a single value stands for a list of one."""
    if isinstance(value, (tuple, Absent, Indeterminate)):
        return value
    return (value,)


# Elements that one condition binds, those of lists within lists each time: with two lists of
# thousands it would be millions.
_MOST_ELEMENTS = 200_000
# Characters that are looked at in the time that one element takes; others are normalised first.
_CHARACTERS, _OTHER_CHARACTERS = 1_000, 25


_Read = TypeVar("_Read")


class _TooManyElements(Exception):
    """Ends a condition that would bind more elements than it may."""


def with_bounded_elements(
    read: Callable[[Evaluation], _Read],
) -> Callable[[Evaluation], _Read | Indeterminate]:
    """Return a reading of a list that is indeterminate if it takes too many elements in all."""

    def bounded(call: Evaluation) -> _Read | Indeterminate:
        if call.bound_elements is not None:
            return read(call)
        call.bound_elements = 0
        try:
            return read(call)
        except _TooManyElements:
            return Indeterminate("there are too many elements in lists within lists")
        finally:
            call.bound_elements = None

    return bounded


def count_value(call: Evaluation, value: Value) -> None:
    """Count a long value that a condition looks at, maybe again for each element of a list."""
    if isinstance(value, str) and len(value) > _CHARACTERS:
        _count(call, len(value) // (_CHARACTERS if value.isascii() else _OTHER_CHARACTERS))
    elif isinstance(value, tuple) and len(value) > 1:
        _count(call, len(value) // 2)


def _count(call: Evaluation, elements: int) -> None:
    bound = call.bound_elements
    if bound is not None:
        if bound + elements > _MOST_ELEMENTS:
            raise _TooManyElements
        call.bound_elements = bound + elements


def bind_variable(
    call: Evaluation, slot: int, index_slot: int | None, *, item: Value, index: int
) -> None:
    """Bind a quantifier's variables to one element and its index, from 0."""
    _count(call, 1)
    call.locals[slot] = ABSENT if item is None else item
    if index_slot is not None:
        call.locals[index_slot] = index


def _selected(node: checked.Selected, place: ConditionScope) -> ValueOf:
    if node.function == "sum":
        source = compile_value(node.source, place)
        amount = compile_value(_as_value(node.test), place)
        return _sum(node, source, amount, counting=place.counting)
    source = compile_candidates(node.source, node.slot, _as_test(node.test), place)
    test = place.test(_as_test(node.test), place)
    if node.function == "latest":
        return _latest(node, source, test)
    finish = _FINISH[node.function]

    def read(call: Evaluation) -> Value:
        items = elements(source(call))
        known = items.items if isinstance(items, PartialList) else items
        if isinstance(known, (Absent, Indeterminate)):
            return known
        kept: list[Value] = []
        for index, item in enumerate(known):
            bind_variable(call, node.slot, node.index_slot, item=item, index=index)
            truth = test(call)
            if truth is True:
                kept.append(item)
            elif isinstance(truth, Indeterminate):
                return truth
        if isinstance(items, PartialList):
            if node.function != "filter":
                return unknown_history(items.why)
            return PartialList(tuple(kept), items.why, sure_from=len(kept) + 1)
        return finish(kept)

    return with_bounded_elements(read)


def compile_candidates(
    source: checked.Value, slot: int, test: checked.Test, place: ConditionScope
) -> ValueOf:
    """Return the elements of a list; of earlier calls, those alone that the test may select."""
    if not isinstance(source, checked.EarlierCalls):
        return compile_value(source, place)
    from policy.evaluation.past_keys import key_of_test
    from policy.evaluation.past_lists import PastList

    key = key_of_test(test, slot)
    if key is None:
        return PastList(source, place)
    return PastList(source, place).chosen_by(key.steps, compile_value(key.value, place))


def _latest(node: checked.Selected, source: ValueOf, test: TestOf) -> ValueOf:
    none_found = _NO_SUCH_CALL if _are_calls(node.source) else _NO_SUCH_ITEM

    def read(call: Evaluation) -> Value:
        items = elements(source(call))
        known = items.items if isinstance(items, PartialList) else items
        if isinstance(known, (Absent, Indeterminate)):
            return known
        for index in range(len(known) - 1, -1, -1):
            bind_variable(call, node.slot, node.index_slot, item=known[index], index=index)
            truth = test(call)
            if isinstance(truth, Indeterminate):
                return truth
            if truth:
                if isinstance(items, PartialList) and index < items.sure_from:
                    break
                return known[index]
        return unknown_history(items.why) if isinstance(items, PartialList) else none_found

    return with_bounded_elements(read)


def _are_calls(source: checked.Value) -> bool:
    """Return whether a list holds earlier calls, or some of them."""
    if isinstance(source, checked.Selected):
        return source.function == "filter" and _are_calls(source.source)
    return isinstance(source, checked.EarlierCalls)


def _sum(node: checked.Selected, source: ValueOf, amount: ValueOf, *, counting: bool) -> ValueOf:
    def read(call: Evaluation) -> Value:
        items = elements(source(call))
        if isinstance(items, (Absent, Indeterminate)):
            return _whole(items)
        total: Value = 0
        for index, item in enumerate(items):
            bind_variable(call, node.slot, node.index_slot, item=item, index=index)
            addend = amount(call)
            if isinstance(addend, Absent):
                # Skipping it would lower the sum, and an absent sum would prevent a deny.
                return Indeterminate("an amount of a sum is absent")
            if counting and _is_negative(addend):
                return Indeterminate("an amount of a sum is negative")
            total = arithmetic("+", total, addend)
        return total

    return with_bounded_elements(read)


def _is_negative(value: Value) -> bool:
    return isinstance(value, int | float | Decimal) and value < 0


# Whatever is compared with what was not found is indeterminate, so both are unknown, not absent.
_NO_SUCH_CALL = Unknown("there is no such call", about="calls")
_NO_SUCH_ITEM = Unknown("no item of the list meets the condition", about="values")
_FINISH: dict[str, Callable[[list[Value]], Value]] = {
    "filter": tuple,
    "count": len,
    "first": lambda kept: kept[0] if kept else ABSENT,
}


def _as_value(node: checked.Test | checked.Value) -> checked.Value:
    return node.value if isinstance(node, checked.ValueTest) else node  # type: ignore[return-value]


def _as_test(node: checked.Test | checked.Value) -> checked.Test:
    return node  # type: ignore[return-value]

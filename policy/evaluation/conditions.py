"""Compiles a checked test to a function of the call, in three-valued logic.

Every leaf settles what absent means where it stands, so that above the leaves only true, false
and indeterminate are left.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, time
from functools import partial
from typing import Any, assert_never

from policy.checks import checked
from policy.evaluation.comparison import equal, ordered
from policy.evaluation.condition_scope import ConditionScope, TestOf, ValueOf
from policy.evaluation.evaluation import Evaluation
from policy.evaluation.expressions import (
    bind_variable,
    compile_candidates,
    compile_value,
    count_value,
    elements,
    with_bounded_elements,
)
from policy.evaluation.named_by_user import compile_named_by_user
from policy.evaluation.resource_tests import compile_resource_test
from policy.evaluation.truth import (
    ABSENT,
    Absent,
    Indeterminate,
    PartialList,
    Truth,
    Unknown,
    Value,
    all_of,
    any_of,
    negated,
)
from policy.values import (
    Unreadable,
    compare_text,
    compile_text_glob,
    is_number,
    is_ordinary,
    within_window,
)


def compile_test(test: checked.Test, place: ConditionScope) -> TestOf:  # noqa: C901 (one arm a node)
    """Return the function that decides `test` for a call."""
    match test:
        case checked.AllOf(tests=tests):
            return all_of([compile_test(part, place) for part in tests])
        case checked.AnyOf(tests=tests):
            return any_of([compile_test(part, place) for part in tests])
        case checked.NotOf(test=part):
            inner = compile_test(part, place)
            return lambda call: negated(inner(call))
        case checked.ValueTest(value=value, text=text):
            return _leaf(_truth, [compile_value(value, place)], text=text, place=place)
        case checked.Comparison():
            return _comparison(test, place)
        case checked.Membership():
            return _member(test, place)
        case checked.TextRelation():
            return _text_relation(test, place)
        case checked.LikeTest(left=left, pattern=pattern, text=text):
            matches = partial(_on_text, compile_text_glob(pattern))
            return _leaf(matches, [compile_value(left, place)], text=text, place=place)
        case checked.RegexTest():
            return _regex(test, place)
        case checked.Presence(left=left, present=present, text=text):
            return _presence(compile_value(left, place), present=present, text=text)
        case checked.TypeTest(left=left, kind=kind, text=text):
            is_kind = partial(_is_kind, kind)
            return _leaf(is_kind, [compile_value(left, place)], text=text, place=place)
        case checked.Quantified():
            return _quantified(test, place)
        case checked.WindowTest():
            return _window(test, place)
        case checked.ResourceTest(text=text):
            resource = compile_resource_test(test, place.declared, covering=place.covering)
            return _settled(resource, text=text, place=place)
        case checked.NamedByUser(left=left, text=text):
            named = compile_named_by_user(compile_value(left, place))
            return _settled(named, text=text, place=place)
        case (
            checked.EarlierCall()
            | checked.InEarlierCalls()
            | checked.FoundInResults()
            | checked.FoundInLabelled()
        ):
            return _of_history(test, place)
        case _:
            assert_never(test)


def _of_history(
    test: checked.EarlierCall
    | checked.InEarlierCalls
    | checked.FoundInResults
    | checked.FoundInLabelled,
    place: ConditionScope,
) -> TestOf:
    """Return a test of earlier calls, whose modules policies without one do not need."""
    match test:
        case checked.EarlierCall():
            from policy.evaluation.earlier_calls import compile_after

            return compile_after(test, place)
        case checked.InEarlierCalls(left=left, text=text):
            from policy.evaluation.in_earlier_calls import compile_in_earlier_calls

            found = compile_in_earlier_calls(test, compile_value(left, place), place)
        case checked.FoundInResults(left=left, text=text):
            from policy.evaluation.found_in_results import compile_found_in_results

            found = compile_found_in_results(test, compile_value(left, place), place)
        case checked.FoundInLabelled(left=left, text=text):
            from policy.evaluation.found_in_labelled import compile_found_in_labelled

            found = compile_found_in_labelled(test, compile_value(left, place), place)
        case _:
            assert_never(test)
    return _settled(found, text=text, place=place)


def _quantified(node: checked.Quantified, place: ConditionScope) -> TestOf:
    stop = node.kind == "any"
    source = (
        compile_candidates(node.source, node.slot, node.test, place)
        if stop
        else compile_value(node.source, place)
    )
    body = compile_test(node.test, place)
    absent = _absent(place, node.text)

    def test(call: Evaluation) -> Truth:
        items = elements(source(call))
        indeterminate: Indeterminate | None = None
        if isinstance(items, PartialList):
            indeterminate = items.within(node.text)
            items = items.items
        elif isinstance(items, Indeterminate):
            return items.within(node.text)
        elif isinstance(items, Absent) or (not items and not stop):
            return absent
        for index, item in enumerate(items):
            bind_variable(call, node.slot, node.index_slot, item=item, index=index)
            truth = body(call)
            if truth is stop:
                return stop
            if isinstance(truth, Indeterminate) and indeterminate is None:
                indeterminate = truth
        return (not stop) if indeterminate is None else indeterminate

    return with_bounded_elements(test)


# ------------------------------------------------------------------ leaves


def _absent(place: ConditionScope, text: str) -> Truth:
    return False if place.absent_is_false else Indeterminate("a value is absent", text)


def _leaf(
    body: Callable[..., Truth], values: list[ValueOf], *, text: str, place: ConditionScope
) -> TestOf:
    """Return a test of values whose body sees only present and determinate values."""
    absent = _absent(place, text)
    if len(values) == 1:
        return _leaf_of_one(body, values[0], text=text, absent=absent)
    first, second = values

    def test(call: Evaluation) -> Truth:
        left, right = first(call), second(call)
        if isinstance(left, Indeterminate):
            return left.within(text)
        if isinstance(right, Indeterminate):
            return right.within(text)
        if left is ABSENT or right is ABSENT:
            return absent
        if call.bound_elements is not None:
            count_value(call, left)
            count_value(call, right)
        truth = body(left, right)
        return truth.within(text) if isinstance(truth, Indeterminate) else truth

    return test


def _leaf_of_one(
    body: Callable[[Value], Truth], value: ValueOf, *, text: str, absent: Truth
) -> TestOf:
    def test(call: Evaluation) -> Truth:
        left = value(call)
        if left is ABSENT:
            return absent
        if isinstance(left, Indeterminate):
            return left.within(text)
        if call.bound_elements is not None:
            count_value(call, left)
        truth = body(left)
        return truth.within(text) if isinstance(truth, Indeterminate) else truth

    return test


def _settled(
    resource: Callable[[Evaluation], Truth | Absent], *, text: str, place: ConditionScope
) -> TestOf:
    absent = _absent(place, text)

    def test(call: Evaluation) -> Truth:
        truth = resource(call)
        if isinstance(truth, Absent):
            return absent
        return truth.within(text) if isinstance(truth, Indeterminate) else truth

    return test


def _truth(value: Value) -> Truth:
    return value if isinstance(value, bool) else Indeterminate("neither true nor false")


def _comparison(node: checked.Comparison, place: ConditionScope) -> TestOf:
    body = equal if node.op == "==" else partial(ordered, node.op)
    values = [compile_value(node.left, place), compile_value(node.right, place)]
    return _leaf(body, values, text=node.text, place=place)


def _member(node: checked.Membership, place: ConditionScope) -> TestOf:
    left = compile_value(node.left, place)
    if isinstance(node.right, checked.ValueSet):
        return _member_of_set(left, node.right, text=node.text, place=place)
    fixed = _constant_texts(node.right)
    if fixed is not None:
        return _leaf(partial(_in_texts, fixed), [left], text=node.text, place=place)
    if isinstance(node.right, checked.ListOf):
        # A disjunction of comparisons: an absent item decides only its own comparison.
        items = [compile_value(item, place) for item in node.right.items]
        return any_of([_leaf(equal, [left, item], text=node.text, place=place) for item in items])
    values = [left, compile_value(node.right, place)]
    return _leaf(_in_list, values, text=node.text, place=place)


def _constant_texts(value: checked.Value) -> frozenset[str] | None:
    """Return the strings of a literal list, if it contains nothing else."""
    items: Any
    if isinstance(value, checked.ListOf):
        items = [item.value if isinstance(item, checked.Constant) else None for item in value.items]
    elif isinstance(value, checked.Constant) and isinstance(value.value, tuple):
        items = value.value
    else:
        return None
    return frozenset(items) if all(isinstance(item, str) for item in items) else None


def _in_texts(texts: frozenset[str], value: Value) -> Truth:
    if isinstance(value, str):
        if is_ordinary(value):
            return value in texts
        answer = compare_text(texts.__contains__, value)
        return Indeterminate("the string has invisible characters") if answer is None else answer
    return (
        Indeterminate("a value that is not a string, tested against a list of strings")
        if texts
        else False
    )


def _in_list(value: Value, items: Value) -> Truth:
    indeterminate: Indeterminate | None = None
    for item in items if isinstance(items, tuple) else (items,):
        truth = equal(value, item)
        if truth is True:
            return True
        if isinstance(truth, Indeterminate) and indeterminate is None:
            indeterminate = truth
    return False if indeterminate is None else indeterminate


def _member_of_set(
    left: ValueOf, values: checked.ValueSet, *, text: str, place: ConditionScope
) -> TestOf:
    from policy.evaluation.set_tests import SetTest, read_member

    members = SetTest(values, place.declared.profiles, prepared=place.declared.prepared)
    absent = _absent(place, text)

    def test(call: Evaluation) -> Truth:
        value = left(call)
        if value is ABSENT:
            return absent
        if isinstance(value, Indeterminate):
            return value.within(text)
        thing = read_member(values.kind, value, call.paths)
        if isinstance(thing, Unreadable):
            return Indeterminate(thing.reason, text)
        answer = members.holds(thing, call, call.paths, extent="all")
        if answer is None:
            return Indeterminate("the value cannot be compared with the set", text)
        return answer

    return test


def _text_relation(node: checked.TextRelation, place: ConditionScope) -> TestOf:
    values = [compile_value(node.left, place), compile_value(node.right, place)]
    body = partial(_relate, node.op)
    return _leaf(body, values, text=node.text, place=place)


def _relate(op: str, left: Value, right: Value) -> Truth:
    if not isinstance(left, str) or not isinstance(right, str):
        return Indeterminate("a string is compared with another type")
    if op == "starts with":
        return _on_text(lambda text: text.startswith(right), left)
    if op == "ends with":
        return _on_text(lambda text: text.endswith(right), left)
    return _on_text(lambda text: right in text, left)


def _on_text(test: Callable[[str], bool | None], value: Value) -> Truth:
    if not isinstance(value, str):
        return Indeterminate("the value is not a string")
    answer = test(value) if is_ordinary(value) else compare_text(test, value)  # type: ignore[arg-type]
    return Indeterminate("the string has invisible characters") if answer is None else answer


def _regex(node: checked.RegexTest, place: ConditionScope) -> TestOf:
    regex = place.declared.regex(node.pattern)
    left = compile_value(node.left, place)
    if isinstance(regex, Unreadable):
        reason = regex.reason
        return lambda call: Indeterminate(reason, node.text)
    body = partial(_on_text, regex.matches_whole if node.whole else regex.found_in)
    return _leaf(body, [left], text=node.text, place=place)


def _presence(left: ValueOf, *, present: bool, text: str) -> TestOf:
    def test(call: Evaluation) -> Truth:
        value = left(call)
        if value is ABSENT or isinstance(value, Unknown):
            return not present
        if isinstance(value, Indeterminate):
            return value.within(text)
        return present

    return test


def _is_kind(kind: str, value: Value) -> Truth:
    match kind:
        case "string":
            return isinstance(value, str)
        case "number":
            return is_number(value)
        case "boolean":
            return isinstance(value, bool)
        case "list":
            return isinstance(value, tuple)
        case _:
            return isinstance(value, Mapping)


def _window(node: checked.WindowTest, place: ConditionScope) -> TestOf:
    start, end = (time(minutes // 60 % 24, minutes % 60) for minutes in (node.start, node.end))

    def body(value: Value) -> Truth:
        if not isinstance(value, datetime):
            return Indeterminate("`within` tests a time, and the value is not a time")
        answer = within_window(value, start, end, zone=node.zone, days=node.days)
        return Indeterminate(answer.reason) if isinstance(answer, Unreadable) else answer

    return _leaf(body, [compile_value(node.left, place)], text=node.text, place=place)

"""The outcomes that a test can have over all calls of a tool.

Too many outcomes are harmless, one too few would cause a false report: anything unknown can have
any outcome.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any

from policy.checks.checked import (
    AllOf,
    AnyOf,
    Comparison,
    Constant,
    LikeTest,
    Membership,
    NotOf,
    Presence,
    Quantified,
    ResourceTest,
    Test,
    TextRelation,
    Value,
    ValueSet,
    ValueTest,
)
from policy.checks.names.known_tools import field_steps
from policy.checks.satisfiability import contradictions
from policy.checks.satisfiability.bounds import bounds_of, is_unsatisfiable
from policy.checks.satisfiability.possible_values import (
    ANY,
    FALSE,
    TRUE,
    UNDECIDED,
    ConditionContext,
    Outcomes,
    possible_values,
)
from policy.values import compare_numbers, compile_text_glob, is_number


def outcomes(test: Test, context: ConditionContext) -> Outcomes:
    """Return the possible outcomes of a test.

    Numbers beyond a double and strings with invisible characters are not considered.
    """
    judge = _JUDGES.get(type(test))
    return ANY if judge is None else judge(test, context)


def never_holds_outside(test: Test, exception: Test, context: ConditionContext) -> bool:
    """Return whether `test` can never hold where `exception` does not."""
    parts = [*_flat(test), NotOf(test=exception, text="")]
    if exception in parts:
        return True
    return contradictions.contradict(
        parts, [outcomes(part, context) for part in parts], context, outcomes
    )


def resource_tests(test: Test | None) -> Iterator[ResourceTest]:
    """Yield the resource tests of a condition, in order."""
    match test:
        case ResourceTest():
            yield test
        case AllOf(tests=tests) | AnyOf(tests=tests):
            for part in tests:
                yield from resource_tests(part)
        case NotOf(test=part) | Quantified(test=part):
            yield from resource_tests(part)
        case _:
            return


# The possible outcomes of the negation, for each set of outcomes.
_NEGATED = tuple((each & 4) | (each & 1) << 1 | (each & 2) >> 1 for each in range(8))


def _both(left: Outcomes, right: Outcomes) -> Outcomes:
    """Combine the outcomes of two parts that must both hold: the minimum of each pair."""
    found = (left | right) & FALSE if left and right else 0
    for mine, other in ((left, right), (right, left)):
        found |= mine & UNDECIDED if other & (TRUE | UNDECIDED) else 0
    return found | left & right & TRUE


_BOTH = tuple(tuple(_both(left, right) for right in range(8)) for left in range(8))


def _of_all(test: AllOf, context: ConditionContext) -> Outcomes:
    parts = list(_flat(test))
    each = [outcomes(part, context) for part in parts]
    return FALSE if contradictions.contradict(parts, each, context, outcomes) else _join(each)


def _of_any(test: AnyOf, context: ConditionContext) -> Outcomes:
    return _NEGATED[_join(_NEGATED[outcomes(part, context)] for part in test.tests)]


def _of_not(test: NotOf, context: ConditionContext) -> Outcomes:
    return _NEGATED[outcomes(test.test, context)]


def _flat(test: Test) -> Iterator[Test]:
    if isinstance(test, AllOf):
        for part in test.tests:
            yield from _flat(part)
    else:
        yield test


def _join(each: Iterable[Outcomes]) -> Outcomes:
    joined = TRUE
    for found in each:
        joined = _BOTH[joined][found]
    return joined


# ------------------------------------------------------------------ one value


def _each(value: Value, context: ConditionContext, judge: Callable[[Any], bool | None]) -> Outcomes:
    """Join the results of `judge` for each possible constant; None means that calls differ."""
    held = possible_values(value, context)
    return ANY if held is None else _judged(held, context, judge)


def _judged(
    held: tuple[Any, ...], context: ConditionContext, judge: Callable[[Any], bool | None]
) -> Outcomes:
    found = 0
    for value in held:
        if value is None:
            found |= context.absent
            continue
        said = judge(value)
        found |= ANY if said is None else TRUE if said else FALSE
    return found


def _of_truth(test: ValueTest, context: ConditionContext) -> Outcomes:
    return _each(test.value, context, lambda held: held if isinstance(held, bool) else None)


def _of_comparison(test: Comparison, context: ConditionContext) -> Outcomes:
    op, left, right = test.op, test.left, test.right
    if isinstance(left, Constant) and not isinstance(right, Constant):
        op, left, right = contradictions.TURNED[op], right, left
    against = possible_values(right, context)
    if against is None or len(against) != 1 or against[0] is None:
        return ANY
    wanted = against[0]
    held = possible_values(left, context)
    if held is not None:
        return _judged(held, context, lambda value: compare_constants(op, value, wanted))
    steps = None if context.tool is None else field_steps(left)
    if steps is None or context.tool is None or not is_number(wanted):
        return ANY
    bounds = bounds_of(context.tool, steps)
    if not bounds:
        return ANY
    absent = 0 if context.tool.is_always_there(steps) else context.absent
    if is_unsatisfiable((*bounds, (op, wanted))):
        return FALSE | absent
    opposite = _OPPOSITE.get(op)
    if opposite is not None and is_unsatisfiable((*bounds, (opposite, wanted))):
        return TRUE | absent
    return ANY


_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}


def compare_constants(op: str, left: Any, right: Any) -> bool | None:
    """Compare two constants; None where the result is uncertain."""
    if is_number(left) and is_number(right):
        return compare_numbers(op, left, right)
    if isinstance(left, datetime) and isinstance(right, datetime):
        return None
    if type(left) is not type(right) or not isinstance(left, (str, bool)):
        return None
    return bool(left == right) if op == "==" else None


def _of_member(test: Membership, context: ConditionContext) -> Outcomes:
    right = test.right
    if isinstance(right, ValueSet):
        if is_empty(right):
            return FALSE
        items = contradictions.literal_items(right)
    elif isinstance(right, Constant) and isinstance(right.value, tuple):
        items = right.value
        if not items:
            return FALSE
    else:
        return ANY
    held = None if items is None else possible_values(test.left, context)
    if items is None or held is None:
        return ANY
    among = items
    return _judged(held, context, lambda value: _among(value, among))


def _among(value: Any, items: Iterable[Any]) -> bool | None:
    found = [compare_constants("==", value, item) for item in items]
    return True if True in found else None if None in found else False


def _of_text(test: TextRelation | LikeTest, context: ConditionContext) -> Outcomes:
    return _each(test.left, context, lambda value: _text(test, value))


def _text(test: TextRelation | LikeTest, value: Any) -> bool | None:
    if not isinstance(value, str) or not value.isascii():
        return None
    if isinstance(test, LikeTest):
        return compile_text_glob(test.pattern)(value)
    other = test.right.value if isinstance(test.right, Constant) else None
    if not isinstance(other, str):
        return None
    match test.op:
        case "starts with":
            return value.startswith(other)
        case "ends with":
            return value.endswith(other)
        case _:
            return other in value


def _of_presence(test: Presence, context: ConditionContext) -> Outcomes:
    present, absent = (TRUE, FALSE) if test.present else (FALSE, TRUE)
    held = possible_values(test.left, context)
    if held is not None and not isinstance(test.left, Constant):
        found = 0
        for value in held:
            found |= absent if value is None else present
        return found
    steps = field_steps(test.left)
    if context.tool is not None and steps is not None and context.tool.is_always_there(steps):
        return present
    return ANY


def _of_quantified(test: Quantified, context: ConditionContext) -> Outcomes:
    source = possible_values(test.source, context)
    empty = source is not None and all(value == () for value in source)
    if test.kind == "any":
        return FALSE if empty or outcomes(test.test, context) == FALSE else ANY
    return context.absent if empty else ANY


def _of_resources(test: ResourceTest, context: ConditionContext) -> Outcomes:
    """Return the outcomes; only a position that restricts needs a resource in the set."""
    empty = test.operand is not None and is_empty(test.operand)
    if (test.form == "some" and empty and not test.permits) or (test.form == "any" and empty):
        return FALSE
    if test.form == "outside" and test.operand is None:
        return FALSE
    tool = context.tool
    if tool is None or tool.may(test.verb) or empty:
        return ANY
    if test.form == "only" or (test.permits and test.operand is None):
        return TRUE
    return FALSE


def is_empty(members: ValueSet) -> bool:
    """Return whether a set is empty on purpose: `nothing` or `[]`.

    A set from a data file or a parameter may be empty by chance, which is no mistake.
    """
    return not members.included


# Any other test can have any outcome.
_JUDGES: Mapping[type, Callable[[Any, ConditionContext], Outcomes]] = MappingProxyType(
    {
        ValueTest: _of_truth,
        NotOf: _of_not,
        AllOf: _of_all,
        AnyOf: _of_any,
        Comparison: _of_comparison,
        Membership: _of_member,
        TextRelation: _of_text,
        LikeTest: _of_text,
        Presence: _of_presence,
        Quantified: _of_quantified,
        ResourceTest: _of_resources,
    }
)

"""A rule's conditions in; whether the rule can ever do anything, as far as its text tells, out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

from policy.checks.checked import (
    AllOf,
    AnyOf,
    Comparison,
    Constant,
    Member,
    NotOf,
    Quantified,
    ResourceTest,
    Test,
    Truth,
    Value,
    ValueSet,
)
from policy.checks.clauses import Clauses
from policy.checks.report import Report
from policy.values import compare_numbers, is_number


def check_can_hold(clauses: Clauses, report: Report) -> None:
    """Say so where a rule's `when` can never be met, or its `unless` always is."""
    if clauses.when is not None and certain(clauses.when) is False:
        report.say(
            "never-holds",
            "this condition can never hold, so the rule does nothing",
            span=clauses.when_span,
            help="correct the condition, or remove the rule",
        )
    if clauses.unless is not None and certain(clauses.unless) is True:
        report.say(
            "never-holds",
            "this exception always holds, so the rule does nothing",
            span=clauses.unless_span,
            help="correct the condition, or remove the rule",
        )


def certain(test: Test) -> bool | None:
    """Return what a test says of every call; None where calls can differ."""
    match test:
        case Truth(value=Constant(value=bool() as said)):
            return said
        case NotOf():
            inner = certain(test.test)
            return None if inner is None else not inner
        case AllOf():
            return _all(test)
        case AnyOf():
            found = [certain(part) for part in test.tests]
            return True if True in found else None if None in found else False
        case Comparison(left=Constant(value=left), right=Constant(value=right)):
            return _compared(test.op, left, right)
        case Member():
            return _member(test)
        case Quantified(kind="any", source=Constant(value=())):
            return False
        case Quantified() if certain(test.test) is False and test.kind == "any":
            return False
        case ResourceTest():
            return _resources(test)
        case _:
            return None


def _all(test: AllOf) -> bool | None:
    parts = list(_flat(test))
    found = [certain(part) for part in parts]
    if False in found or _contradicts(parts):
        return False
    return None if None in found else True


def _flat(test: Test) -> Iterator[Test]:
    if isinstance(test, AllOf):
        for part in test.tests:
            yield from _flat(part)
    else:
        yield test


def _contradicts(parts: Iterable[Test]) -> bool:
    """Tell whether one value would have to equal two different constants."""
    wanted: list[tuple[Value, Any]] = []
    for part in parts:
        match part:
            case Comparison(op="==", left=value, right=Constant(value=constant)):
                pass
            case Comparison(op="==", left=Constant(value=constant), right=value):
                pass
            case _:
                continue
        if isinstance(value, Constant):
            continue
        if any(
            other == value and _compared("==", held, constant) is False for other, held in wanted
        ):
            return True
        wanted.append((value, constant))
    return False


def _compared(op: str, left: Any, right: Any) -> bool | None:
    if is_number(left) and is_number(right):
        return compare_numbers(op, left, right)
    if isinstance(left, datetime) and isinstance(right, datetime):
        return None
    if type(left) is not type(right) or not isinstance(left, (str, bool)):
        return None
    match op:
        case "==":
            return bool(left == right)
        case _:
            return None


def _member(test: Member) -> bool | None:
    match test.right:
        case ValueSet():
            return False if is_empty(test.right) else None
        case Constant(value=tuple() as items):
            if not items:
                return False
            if not isinstance(test.left, Constant):
                return None
            found = [_compared("==", test.left.value, item) for item in items]
            return True if True in found else None if None in found else False
        case _:
            return None


def _resources(test: ResourceTest) -> bool | None:
    """Where a place restricts, something must be in the set; where it permits, nothing need be."""
    empty = test.operand is not None and is_empty(test.operand)
    match test.form:
        case "some" if empty and not test.permits:
            return False
        case "any" if empty:
            return False
        case "outside" if test.operand is None:
            return False
        case _:
            return None


def is_empty(members: ValueSet) -> bool:
    """Tell whether a set is written as holding nothing: `nothing` or `[]`.

    A data file or a parameter may be empty today and not tomorrow; its set is no mistake.
    """
    return not members.included

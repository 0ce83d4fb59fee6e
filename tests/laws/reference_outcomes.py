"""Compute the possible outcomes of a test the slow way, as a reference for the fast one.

Every part is evaluated anew for every constant that a value may be, and truth values are members of
sets.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from enum import Enum
from typing import Any, TypeAlias

from policy.catalog import lookup
from policy.checks.checked import (
    AllOf,
    AnyOf,
    Comparison,
    Constant,
    Fact,
    LikeTest,
    Membership,
    NotOf,
    Presence,
    Quantified,
    ResourceTest,
    Test,
    TextRelation,
    TypeTest,
    Value,
    ValueSet,
    ValueTest,
)
from policy.checks.names.known_tools import KnownTool, field_steps
from policy.checks.satisfiability.bounds import bounds_of, is_unsatisfiable
from policy.values import compare_numbers, compile_text_glob, is_number


class Outcome(Enum):
    """One of the three truth values."""

    TRUE = "true"
    FALSE = "false"
    UNDECIDED = "undecided"


Outcomes: TypeAlias = frozenset[Outcome]

_TRUE: Outcomes = frozenset({Outcome.TRUE})
_FALSE: Outcomes = frozenset({Outcome.FALSE})
_ANY: Outcomes = frozenset(Outcome)
_MOST_CHOICES = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """What is known where a test stands: the tool, and what a test of an absent value comes to.

    `assumed` holds values that are taken to be constants.
    """

    tool: KnownTool | None = None
    absent: Outcome = Outcome.FALSE
    assumed: tuple[tuple[Value, Constant], ...] = ()


def outcomes(test: Test, sight: Sight) -> Outcomes:
    """Return what a test can come out as; numbers no double holds are not reckoned with."""
    match test:
        case ValueTest(value=value):
            return _of_truth(value, sight)
        case NotOf():
            return frozenset(_NEGATED[found] for found in outcomes(test.test, sight))
        case AllOf():
            parts = list(_flat(test))
            return _FALSE if _contradict(parts, sight) else _all(parts, sight)
        case AnyOf():
            negated = [NotOf(test=part, text="") for part in test.tests]
            return frozenset(_NEGATED[found] for found in _all(negated, sight))
        case Comparison():
            return _compare(test, sight)
        case Membership():
            return _member(test, sight)
        case TextRelation() | LikeTest():
            return _each(test.left, sight, lambda value: _text(test, value))
        case Presence():
            return _presence(test, sight)
        case Quantified():
            return _quantified(test, sight)
        case ResourceTest():
            return _resources(test, sight)
        case _:
            return _ANY


def holds_nowhere(test: Test, exception: Test, sight: Sight) -> bool:
    """Tell whether `test` can never hold where `exception` does not."""
    parts = [*_flat(test), NotOf(test=exception, text="")]
    return exception in parts or _contradict(parts, sight)


_NEGATED = {
    Outcome.TRUE: Outcome.FALSE,
    Outcome.FALSE: Outcome.TRUE,
    Outcome.UNDECIDED: Outcome.UNDECIDED,
}


def _flat(test: Test) -> Iterator[Test]:
    if isinstance(test, AllOf):
        for part in test.tests:
            yield from _flat(part)
    else:
        yield test


def _all(parts: Iterable[Test], sight: Sight) -> Outcomes:
    """Join the outcomes of parts that must all hold: the least of each choice of them."""
    joined = _TRUE
    for part in parts:
        joined = frozenset(_least(a, b) for a in joined for b in outcomes(part, sight))
    return joined


def _least(a: Outcome, b: Outcome) -> Outcome:
    for outcome in (Outcome.FALSE, Outcome.UNDECIDED):
        if outcome in (a, b):
            return outcome
    return Outcome.TRUE


# ------------------------------------------------------------------ one value


def _possible(value: Value, sight: Sight) -> tuple[Constant, ...] | None:
    """Return the constants that a value can only be; null stands for absent, None for anything."""
    if isinstance(value, Constant):
        # Null also stands where something could not be read.
        return None if value.value is None else (value,)
    for other, constant in sight.assumed:
        if other == value:
            return (constant,)
    if sight.tool is None:
        return None
    if isinstance(value, Fact):
        found = sight.tool.fact(value)
        return (found,) if isinstance(found, Constant) else None
    steps = field_steps(value)
    if steps is None:
        return None
    choices = lookup(sight.tool.spec.schema, steps).choices
    if choices is None or len(choices) > _MOST_CHOICES:
        return None
    absent = () if sight.tool.is_always_there(steps) else (Constant(value=None),)
    return (*(Constant(value=choice) for choice in choices if choice is not None), *absent)


def _each(value: Value, sight: Sight, judge: Any) -> Outcomes:
    """Join what `judge` says of each constant the value can be; it says None of what may differ."""
    possible = _possible(value, sight)
    if possible is None:
        return _ANY
    found: Outcomes = frozenset()
    for constant in possible:
        if constant.value is None:
            found |= {sight.absent}
            continue
        said = judge(constant.value)
        found |= _ANY if said is None else _TRUE if said else _FALSE
    return found


def _of_truth(value: Value, sight: Sight) -> Outcomes:
    return _each(value, sight, lambda held: held if isinstance(held, bool) else None)


def _compare(test: Comparison, sight: Sight) -> Outcomes:
    if isinstance(test.left, Constant) and not isinstance(test.right, Constant):
        turned = replace(test, op=_TURNED[test.op], left=test.right, right=test.left)
        return _compare(turned, sight)
    right = _possible(test.right, sight)
    if right is None or len(right) != 1 or right[0].value is None:
        return _ANY
    wanted = right[0].value
    if _possible(test.left, sight) is not None:
        return _each(test.left, sight, lambda held: compared(test.op, held, wanted))
    steps = None if sight.tool is None else field_steps(test.left)
    if steps is None or sight.tool is None or not is_number(wanted):
        return _ANY
    bounds = bounds_of(sight.tool, steps)
    absent = frozenset() if sight.tool.is_always_there(steps) else frozenset({sight.absent})
    if bounds and is_unsatisfiable((*bounds, (test.op, wanted))):
        return _FALSE | absent
    opposite = _OPPOSITE.get(test.op)
    if bounds and opposite is not None and is_unsatisfiable((*bounds, (opposite, wanted))):
        return _TRUE | absent
    return _ANY


_TURNED: dict[str, Any] = {"==": "==", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}


def compared(op: str, left: Any, right: Any) -> bool | None:
    """Compare two constants; None where that is not for certain."""
    if is_number(left) and is_number(right):
        return compare_numbers(op, left, right)
    if isinstance(left, datetime) and isinstance(right, datetime):
        return None
    if type(left) is not type(right) or not isinstance(left, (str, bool)):
        return None
    return bool(left == right) if op == "==" else None


def _member(test: Membership, sight: Sight) -> Outcomes:
    if isinstance(test.right, ValueSet):
        if is_empty(test.right):
            return _FALSE
        plain = _plain_items(test.right)
        return _ANY if plain is None else _each(test.left, sight, lambda v: _among(v, plain))
    if not isinstance(test.right, Constant) or not isinstance(test.right.value, tuple):
        return _ANY
    items = test.right.value
    if not items:
        return _FALSE
    return _each(test.left, sight, lambda value: _among(value, items))


def _among(value: Any, items: Iterable[Any]) -> bool | None:
    found = [compared("==", value, item) for item in items]
    return True if True in found else None if None in found else False


def _plain_items(members: ValueSet) -> tuple[Any, ...] | None:
    """Return the texts or numbers of a set written out here, None of any other set."""
    if members.kind not in ("strings", "numbers") or members.excluded:
        return None
    plain = all(isinstance(item, (str, int, float)) for item in members.included)
    return members.included if plain else None


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


def _presence(test: Presence, sight: Sight) -> Outcomes:
    present, absent = (_TRUE, _FALSE) if test.present else (_FALSE, _TRUE)
    possible = _possible(test.left, sight)
    if possible is not None and not isinstance(test.left, Constant):
        return frozenset(
            found for c in possible for found in (absent if c.value is None else present)
        )
    steps = field_steps(test.left)
    if sight.tool is not None and steps is not None and sight.tool.is_always_there(steps):
        return present
    return _ANY


def _quantified(test: Quantified, sight: Sight) -> Outcomes:
    source = _possible(test.source, sight)
    empty = source is not None and all(constant.value == () for constant in source)
    if test.kind == "any":
        return _FALSE if empty or outcomes(test.test, sight) == _FALSE else _ANY
    return frozenset({sight.absent}) if empty else _ANY


def _resources(test: ResourceTest, sight: Sight) -> Outcomes:
    """Where a place restricts, something must be in the set; where it permits, nothing need be."""
    empty = test.operand is not None and is_empty(test.operand)
    if (test.form == "some" and empty and not test.permits) or (test.form == "any" and empty):
        return _FALSE
    if test.form == "outside" and test.operand is None:
        return _FALSE
    tool = sight.tool
    if tool is None or tool.may(test.verb) or empty:
        return _ANY
    if test.form == "only" or (test.permits and test.operand is None):
        return _TRUE
    return _FALSE


def is_empty(members: ValueSet) -> bool:
    """Tell whether a set is written as holding nothing: `nothing` or `[]`.

    A data file or a parameter may be empty today and not tomorrow; its set is no mistake.
    """
    return not members.included


# ------------------------------------------------------------------ parts that exclude each other


def _contradict(parts: list[Test], sight: Sight) -> bool:
    """Tell whether no value can meet all the parts that are about it."""
    about: list[tuple[Value, list[Test]]] = []
    for part in parts:
        value = _subject(part)
        if value is None or isinstance(value, Constant):
            continue
        group = next((tests for other, tests in about if other == value), None)
        if group is None:
            about.append((value, [part]))
        else:
            group.append(part)
    return any(_excluded(value, tests, parts, sight) for value, tests in about)


def _subject(test: Test) -> Value | None:
    """Return the value that a test is about."""
    match test:
        case NotOf():
            return _subject(test.test)
        case Comparison(left=Constant()):
            return test.right
        case Comparison() | Membership() | Presence() | TypeTest() | TextRelation() | LikeTest():
            return test.left
        case _:
            return None


def _excluded(value: Value, tests: list[Test], parts: list[Test], sight: Sight) -> bool:
    if len(parts) < 2:
        return False
    if any(isinstance(test, Presence) and not test.present for test in tests) and any(
        _wants_presence(test) for test in tests
    ):
        return True
    if len({test.kind for test in tests if isinstance(test, TypeTest)}) > 1:
        return True
    bounds = [bound for test in tests if (bound := _bound(test)) is not None]
    steps = field_steps(value)
    known = () if sight.tool is None or steps is None else bounds_of(sight.tool, steps)
    if is_unsatisfiable((*bounds, *known)):
        return True
    candidates = next((c for test in tests if (c := _candidates(test)) is not None), None)
    if candidates is None or any(other == value for other, _ in sight.assumed):
        return False
    return not any(
        all(
            Outcome.TRUE in outcomes(part, replace(sight, assumed=(*sight.assumed, (value, each))))
            for part in parts
        )
        for each in candidates
    )


def _wants_presence(test: Test) -> bool:
    if isinstance(test, Presence):
        return test.present
    return not isinstance(test, NotOf)


def _candidates(test: Test) -> tuple[Constant, ...] | None:
    """Return the only constants with which a test can hold."""
    match test:
        case Comparison(op="==", left=Constant() as constant) if constant.value is not None:
            return (constant,)
        case Comparison(op="==", right=Constant() as constant) if constant.value is not None:
            return (constant,)
        case Membership(right=Constant(value=tuple() as items)) if len(items) <= _MOST_CHOICES:
            return tuple(Constant(value=item) for item in items if item is not None)
        case Membership(right=ValueSet() as members):
            plain = _plain_items(members)
            small = plain is not None and len(plain) <= _MOST_CHOICES
            return tuple(Constant(value=item) for item in plain or ()) if small else None
        case _:
            return None


def _bound(test: Test) -> tuple[str, Any] | None:
    match test:
        case Comparison(left=Constant(value=bound)) if is_number(bound):
            return (_TURNED[test.op], bound)
        case Comparison(right=Constant(value=bound)) if is_number(bound):
            return (test.op, bound)
        case _:
            return None

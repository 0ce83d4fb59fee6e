"""A test and what is known of a tool in; what the test can come out as in any call out.

Too many outcomes are harmless, one too few would be a false complaint: whatever is not understood
can come out as anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any

from policy.checks.bounds import bounds_of, clash
from policy.checks.checked import (
    AllOf,
    AnyOf,
    Comparison,
    Constant,
    KindTest,
    LikeTest,
    Member,
    NotOf,
    Presence,
    Quantified,
    ResourceTest,
    Test,
    TextRelation,
    Truth,
    Value,
    ValueSet,
)
from policy.checks.known import field_steps
from policy.checks.possible import (
    ANY,
    FALSE,
    MOST_CHOICES,
    TRUE,
    UNDECIDED,
    Outcomes,
    Sight,
    possible,
)
from policy.values import compare_numbers, compile_text_glob, is_number


def outcomes(test: Test, sight: Sight) -> Outcomes:
    """Return what a test can come out as; numbers no double holds are not reckoned with."""
    judge = _JUDGES.get(type(test))
    return ANY if judge is None else judge(test, sight)


def holds_nowhere(test: Test, exception: Test, sight: Sight) -> bool:
    """Tell whether `test` can never hold where `exception` does not."""
    parts = [*_flat(test), NotOf(test=exception, text="")]
    if exception in parts:
        return True
    return _contradict(parts, [outcomes(part, sight) for part in parts], sight)


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


# What the negation of each set of outcomes can come out as.
_NEGATED = tuple((each & 4) | (each & 1) << 1 | (each & 2) >> 1 for each in range(8))


def _both(left: Outcomes, right: Outcomes) -> Outcomes:
    """Join the outcomes of two parts that must both hold: the least of each choice of them."""
    found = (left | right) & FALSE if left and right else 0
    for mine, other in ((left, right), (right, left)):
        found |= mine & UNDECIDED if other & (TRUE | UNDECIDED) else 0
    return found | left & right & TRUE


_BOTH = tuple(tuple(_both(left, right) for right in range(8)) for left in range(8))


def _of_all(test: AllOf, sight: Sight) -> Outcomes:
    parts = list(_flat(test))
    each = [outcomes(part, sight) for part in parts]
    return FALSE if _contradict(parts, each, sight) else _join(each)


def _of_any(test: AnyOf, sight: Sight) -> Outcomes:
    return _NEGATED[_join(_NEGATED[outcomes(part, sight)] for part in test.tests)]


def _of_not(test: NotOf, sight: Sight) -> Outcomes:
    return _NEGATED[outcomes(test.test, sight)]


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


def _each(value: Value, sight: Sight, judge: Callable[[Any], bool | None]) -> Outcomes:
    """Join what `judge` says of each constant the value can be; it says None of what may differ."""
    held = possible(value, sight)
    return ANY if held is None else _judged(held, sight, judge)


def _judged(held: tuple[Any, ...], sight: Sight, judge: Callable[[Any], bool | None]) -> Outcomes:
    found = 0
    for value in held:
        if value is None:
            found |= sight.absent
            continue
        said = judge(value)
        found |= ANY if said is None else TRUE if said else FALSE
    return found


def _of_truth(test: Truth, sight: Sight) -> Outcomes:
    return _each(test.value, sight, lambda held: held if isinstance(held, bool) else None)


def _of_comparison(test: Comparison, sight: Sight) -> Outcomes:
    op, left, right = test.op, test.left, test.right
    if isinstance(left, Constant) and not isinstance(right, Constant):
        op, left, right = _TURNED[op], right, left
    against = possible(right, sight)
    if against is None or len(against) != 1 or against[0] is None:
        return ANY
    wanted = against[0]
    held = possible(left, sight)
    if held is not None:
        return _judged(held, sight, lambda value: compared(op, value, wanted))
    steps = None if sight.tool is None else field_steps(left)
    if steps is None or sight.tool is None or not is_number(wanted):
        return ANY
    bounds = bounds_of(sight.tool, steps)
    if not bounds:
        return ANY
    absent = 0 if sight.tool.is_always_there(steps) else sight.absent
    if clash((*bounds, (op, wanted))):
        return FALSE | absent
    opposite = _OPPOSITE.get(op)
    if opposite is not None and clash((*bounds, (opposite, wanted))):
        return TRUE | absent
    return ANY


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


def _of_member(test: Member, sight: Sight) -> Outcomes:
    right = test.right
    if isinstance(right, ValueSet):
        if is_empty(right):
            return FALSE
        items = _plain_items(right)
    elif isinstance(right, Constant) and isinstance(right.value, tuple):
        items = right.value
        if not items:
            return FALSE
    else:
        return ANY
    held = None if items is None else possible(test.left, sight)
    if items is None or held is None:
        return ANY
    among = items
    return _judged(held, sight, lambda value: _among(value, among))


def _among(value: Any, items: Iterable[Any]) -> bool | None:
    found = [compared("==", value, item) for item in items]
    return True if True in found else None if None in found else False


def _plain_items(members: ValueSet) -> tuple[Any, ...] | None:
    """Return the texts or numbers of a set written out here, None of any other set."""
    if members.kind not in ("strings", "numbers") or members.excluded:
        return None
    plain = all(isinstance(item, (str, int, float)) for item in members.included)
    return members.included if plain else None


def _of_text(test: TextRelation | LikeTest, sight: Sight) -> Outcomes:
    return _each(test.left, sight, lambda value: _text(test, value))


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


def _of_presence(test: Presence, sight: Sight) -> Outcomes:
    present, absent = (TRUE, FALSE) if test.present else (FALSE, TRUE)
    held = possible(test.left, sight)
    if held is not None and not isinstance(test.left, Constant):
        found = 0
        for value in held:
            found |= absent if value is None else present
        return found
    steps = field_steps(test.left)
    if sight.tool is not None and steps is not None and sight.tool.is_always_there(steps):
        return present
    return ANY


def _of_quantified(test: Quantified, sight: Sight) -> Outcomes:
    source = possible(test.source, sight)
    empty = source is not None and all(value == () for value in source)
    if test.kind == "any":
        return FALSE if empty or outcomes(test.test, sight) == FALSE else ANY
    return sight.absent if empty else ANY


def _of_resources(test: ResourceTest, sight: Sight) -> Outcomes:
    """Where a place restricts, something must be in the set; where it permits, nothing need be."""
    empty = test.operand is not None and is_empty(test.operand)
    if (test.form == "some" and empty and not test.permits) or (test.form == "any" and empty):
        return FALSE
    if test.form == "outside" and test.operand is None:
        return FALSE
    tool = sight.tool
    if tool is None or tool.may(test.verb) or empty:
        return ANY
    if test.form == "only" or (test.permits and test.operand is None):
        return TRUE
    return FALSE


def is_empty(members: ValueSet) -> bool:
    """Tell whether a set is written as holding nothing: `nothing` or `[]`.

    A data file or a parameter may be empty today and not tomorrow; its set is no mistake.
    """
    return not members.included


# What is not here can come out as anything.
_JUDGES: Mapping[type, Callable[[Any, Sight], Outcomes]] = MappingProxyType(
    {
        Truth: _of_truth,
        NotOf: _of_not,
        AllOf: _of_all,
        AnyOf: _of_any,
        Comparison: _of_comparison,
        Member: _of_member,
        TextRelation: _of_text,
        LikeTest: _of_text,
        Presence: _of_presence,
        Quantified: _of_quantified,
        ResourceTest: _of_resources,
    }
)


# ------------------------------------------------------------------ parts that exclude each other


def _contradict(parts: list[Test], each: list[Outcomes], sight: Sight) -> bool:
    """Tell whether no value can meet all the parts that are about it.

    `each` are what the parts can come out as.
    """
    if len(parts) < 2:
        return False
    about: dict[Value, list[int]] = {}
    for place, part in enumerate(parts):
        value = _subject(part)
        if value is not None and not isinstance(value, Constant):
            about.setdefault(value, []).append(place)
    scene = _Scene(parts, each, sight)
    return any(scene.excludes(value, places) for value, places in about.items())


class _Scene:
    """Parts that must all hold, and what each of them can come out as."""

    def __init__(self, parts: list[Test], each: list[Outcomes], sight: Sight) -> None:
        self._parts = parts
        self._each = each
        self._sight = sight
        # The parts that look at more than the one value they are about, and at which.
        self._wide: dict[int, frozenset[Value]] | None = None
        self._calm: bool | None = None

    def excludes(self, value: Value, places: list[int]) -> bool:
        """Tell whether nothing the value can be meets all parts; those at `places` are about it."""
        tests = [self._parts[place] for place in places]
        sight = self._sight
        steps = None if sight.tool is None else field_steps(value)
        known = () if sight.tool is None or steps is None else bounds_of(sight.tool, steps)
        if len(tests) == 1 and not known and self._is_calm() and type(tests[0]) is not Member:
            return False  # nothing else is about the value, and what this wants of it, it may be
        if len(tests) > 1 and _exclude_by_kind(tests):
            return True
        bounds = [bound for test in tests if (bound := _bound(test)) is not None]
        if len(bounds) + len(known) > 1 and clash((*bounds, *known)):
            return True
        candidates = next((c for test in tests if (c := _candidates(test)) is not None), None)
        if candidates is None or any(other == value for other, _ in sight.assumed):
            return False
        return self._none_fits(value, places, candidates)

    def _is_calm(self) -> bool:
        """Tell whether each part may hold, and none looks at values that another is about."""
        if self._calm is None:
            self._calm = not self._beyond() and all(found & TRUE for found in self._each)
        return self._calm

    def _none_fits(self, value: Value, places: list[int], candidates: tuple[Any, ...]) -> bool:
        """Tell whether with each candidate some part cannot hold."""
        touched = [*places, *(p for p, seen in self._beyond().items() if value in seen)]
        untouched = set(range(len(self._parts))).difference(touched)
        if not all(self._each[place] & TRUE for place in untouched):
            return True
        if candidates and len(touched) == 1:
            return False  # what a single part wants of a value, the value may be
        parts = [self._parts[place] for place in dict.fromkeys(touched)]
        return not any(
            all(outcomes(part, assumed) & TRUE for part in parts)
            for assumed in (self._sight.with_assumed(value, held) for held in candidates)
        )

    def _beyond(self) -> dict[int, frozenset[Value]]:
        if self._wide is None:
            self._wide = {
                place: frozenset(_looked_at(part))
                for place, part in enumerate(self._parts)
                if not _is_narrow(part)
            }
        return self._wide


def _subject(test: Test) -> Value | None:
    """Return the value that a test is about."""
    while type(test) is NotOf:
        test = test.test
    match test:
        case Comparison(left=Constant()):
            return test.right
        case Comparison() | Member() | Presence() | KindTest() | TextRelation() | LikeTest():
            return test.left
        case _:
            return None


def _is_narrow(test: Test) -> bool:
    """Tell whether a test looks at no other value than the one it is about, if any."""
    while type(test) is NotOf:
        test = test.test
    match test:
        case Comparison():
            return isinstance(test.left, Constant) or isinstance(test.right, Constant)
        case Member():
            return isinstance(test.right, (Constant, ValueSet))
        case Truth() | AllOf() | AnyOf() | Quantified():
            return False
        case _:
            return True


def _looked_at(test: Test) -> Iterator[Value]:
    """Yield the values that the outcomes of a test can depend on."""
    match test:
        case AllOf(tests=tests) | AnyOf(tests=tests):
            for part in tests:
                yield from _looked_at(part)
        case NotOf(test=part):
            yield from _looked_at(part)
        case Quantified(source=source, test=part):
            yield source
            yield from _looked_at(part)
        case Truth(value=value):
            yield value
        case Comparison(left=left, right=right):
            yield from (left, right)
        case Member() | Presence() | KindTest() | TextRelation() | LikeTest():
            yield test.left
        case _:
            return


def _exclude_by_kind(tests: list[Test]) -> bool:
    """Tell whether tests of one value want it absent and present, or of two kinds."""
    if any(isinstance(test, Presence) and not test.present for test in tests) and any(
        _wants_presence(test) for test in tests
    ):
        return True
    return len({test.kind for test in tests if isinstance(test, KindTest)}) > 1


def _wants_presence(test: Test) -> bool:
    if isinstance(test, Presence):
        return test.present
    return not isinstance(test, NotOf)


def _candidates(test: Test) -> tuple[Any, ...] | None:
    """Return the only constants with which a test can hold."""
    match test:
        case Comparison(op="==", left=Constant(value=held)) if held is not None:
            return (held,)
        case Comparison(op="==", right=Constant(value=held)) if held is not None:
            return (held,)
        case Member(right=Constant(value=tuple() as items)) if len(items) <= MOST_CHOICES:
            return tuple(item for item in items if item is not None)
        case Member(right=ValueSet() as members):
            plain = _plain_items(members)
            return plain if plain is not None and len(plain) <= MOST_CHOICES else None
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

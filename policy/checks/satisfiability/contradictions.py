"""Whether no value can satisfy all parts of a conjunction."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

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
    Test,
    TextRelation,
    TypeTest,
    Value,
    ValueSet,
    ValueTest,
)
from policy.checks.names.known_tools import field_steps
from policy.checks.satisfiability.bounds import bounds_of, is_unsatisfiable
from policy.checks.satisfiability.possible_values import (
    MOST_CHOICES,
    TRUE,
    ConditionContext,
    Outcomes,
)
from policy.values import is_number

# The possible outcomes of a test, given assumed values.
OutcomesOf: TypeAlias = Callable[[Test, ConditionContext], Outcomes]

# The operator with its operands swapped.
TURNED: dict[str, Any] = {"==": "==", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def contradict(
    parts: list[Test], each: list[Outcomes], context: ConditionContext, outcomes: OutcomesOf
) -> bool:
    """Return whether no value can satisfy all the parts that are about it.

    `each` are the possible outcomes of the parts, by `outcomes`.
    """
    if len(parts) < 2:
        return False
    about: dict[Value, list[int]] = {}
    for place, part in enumerate(parts):
        value = _subject(part)
        if value is not None and not isinstance(value, Constant):
            about.setdefault(value, []).append(place)
    required = _RequiredParts(parts, each, context, outcomes)
    return any(required.excludes(value, places) for value, places in about.items())


class _RequiredParts:
    """Parts that must all hold, and the possible outcomes of each."""

    def __init__(
        self,
        parts: list[Test],
        each: list[Outcomes],
        context: ConditionContext,
        outcomes: OutcomesOf,
    ) -> None:
        self._outcomes = outcomes
        self._parts = parts
        self._each = each
        self._context = context
        # The parts that depend on more than the one value they are about, with those values.
        self._wide: dict[int, frozenset[Value]] | None = None
        self._calm: bool | None = None

    def excludes(self, value: Value, places: list[int]) -> bool:
        """Return whether no possible value satisfies all parts; those at `places` are about it."""
        tests = [self._parts[place] for place in places]
        context = self._context
        steps = None if context.tool is None else field_steps(value)
        known = () if context.tool is None or steps is None else bounds_of(context.tool, steps)
        if len(tests) == 1 and not known and self._is_calm() and type(tests[0]) is not Membership:
            return False  # nothing else is about the value, and it may satisfy this part
        if len(tests) > 1 and _exclude_by_kind(tests):
            return True
        bounds = [bound for test in tests if (bound := _bound(test)) is not None]
        if len(bounds) + len(known) > 1 and is_unsatisfiable((*bounds, *known)):
            return True
        candidates = next((c for test in tests if (c := _candidates(test)) is not None), None)
        if candidates is None or any(other == value for other, _ in context.assumed):
            return False
        return self._none_matches(value, places, candidates)

    def _is_calm(self) -> bool:
        """Return whether each part may hold, and none depends on values that another is about."""
        if self._calm is None:
            self._calm = not self._beyond() and all(found & TRUE for found in self._each)
        return self._calm

    def _none_matches(self, value: Value, places: list[int], candidates: tuple[Any, ...]) -> bool:
        """Return whether for each candidate some part cannot hold."""
        touched = [*places, *(p for p, seen in self._beyond().items() if value in seen)]
        untouched = set(range(len(self._parts))).difference(touched)
        if not all(self._each[place] & TRUE for place in untouched):
            return True
        if candidates and len(touched) == 1:
            return False  # the value may satisfy a single part
        parts = [self._parts[place] for place in dict.fromkeys(touched)]
        return not any(
            all(self._outcomes(part, assumed) & TRUE for part in parts)
            for assumed in (self._context.with_assumed(value, held) for held in candidates)
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
        case Comparison() | Membership() | Presence() | TypeTest() | TextRelation() | LikeTest():
            return test.left
        case _:
            return None


def _is_narrow(test: Test) -> bool:
    """Return whether a test depends on no other value than the one it is about, if any."""
    while type(test) is NotOf:
        test = test.test
    match test:
        case Comparison():
            return isinstance(test.left, Constant) or isinstance(test.right, Constant)
        case Membership():
            return isinstance(test.right, (Constant, ValueSet))
        case ValueTest() | AllOf() | AnyOf() | Quantified():
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
        case ValueTest(value=value):
            yield value
        case Comparison(left=left, right=right):
            yield from (left, right)
        case Membership() | Presence() | TypeTest() | TextRelation() | LikeTest():
            yield test.left
        case _:
            return


def _exclude_by_kind(tests: list[Test]) -> bool:
    """Return whether tests of one value require it absent and present, or of two types."""
    if any(isinstance(test, Presence) and not test.present for test in tests) and any(
        _wants_presence(test) for test in tests
    ):
        return True
    return len({test.kind for test in tests if isinstance(test, TypeTest)}) > 1


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
        case Membership(right=Constant(value=tuple() as items)) if len(items) <= MOST_CHOICES:
            return tuple(item for item in items if item is not None)
        case Membership(right=ValueSet() as members):
            plain = literal_items(members)
            return plain if plain is not None and len(plain) <= MOST_CHOICES else None
        case _:
            return None


def _bound(test: Test) -> tuple[str, Any] | None:
    match test:
        case Comparison(left=Constant(value=bound)) if is_number(bound):
            return (TURNED[test.op], bound)
        case Comparison(right=Constant(value=bound)) if is_number(bound):
            return (test.op, bound)
        case _:
            return None


def literal_items(members: ValueSet) -> tuple[Any, ...] | None:
    """Return the strings or numbers of a literal set, None for any other set."""
    if members.kind not in ("strings", "numbers") or members.excluded:
        return None
    plain = all(isinstance(item, (str, int, float)) for item in members.included)
    return members.included if plain else None

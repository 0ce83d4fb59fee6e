"""Resource tests of all rules on one tool, evaluated at once: which are true of a call.

Most rules of a tool test whether a path, a host or a command is in some set. So the resource is
looked up once, in all sets together. Where that is not possible (a path with several readings, a
name that must be resolved) each test is evaluated by itself, and only when a rule needs it.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from policy.checks import checked
from policy.evaluation.declared_resources import DeclaredResources
from policy.evaluation.effects import CallEffects, KnownResource
from policy.evaluation.enforced_sets import sandbox_enforces
from policy.evaluation.evaluation import Evaluation
from policy.evaluation.resource_tests import Resource, compile_resource_test, unseen_effects
from policy.evaluation.set_items import (
    mentions_inline_code,
    patterns_of,
    prepared_hosts,
    prepared_paths,
)
from policy.evaluation.set_tests import listed_items
from policy.evaluation.truth import Absent, Indeterminate, Truth
from policy.evaluation.undeclared_texts import every_path_set
from policy.programs import CommandPattern, CommandSets, Invocation, Profiles, runs_nothing_else
from policy.values import Endpoint, HostSets, Path, PathSets, PreparedHosts, PreparedPaths

# The number of every test that is true, and `~number` of every test that is open. Never empty.
Answers: TypeAlias = Container[int]

# In every set of answers; no test has this number.
_NO_TEST = 0
_NOTHING = frozenset({_NO_TEST})
# Stands for answers that are evaluated on demand.
_ONE_BY_ONE: frozenset[int] = frozenset({_NO_TEST, ~_NO_TEST})
_ABSENT = Indeterminate("a value is absent")


def batch_tests(verb: str, declared: DeclaredResources) -> BatchedTests:
    """Return the batch of tests of a verb for calls with these declarations."""
    found: BatchedTests | None = declared.tests.get(verb)
    if found is None:
        found = declared.tests.setdefault(verb, BatchedTests(verb, declared))
    return found


class BatchedTests:
    """The tests of one verb, numbered from 1 on, by one layer's declarations of a tool."""

    __slots__ = ("_declared", "_numbers", "_own", "_sorted", "_tests", "_verb")

    def __init__(self, verb: str, declared: DeclaredResources) -> None:
        self._verb = verb
        self._declared = declared
        self._numbers: dict[Any, int] = {}
        self._tests: list[_Asked] = []
        self._own: dict[int, Resource] = {}
        self._sorted: _Sorted | None = None

    def number(
        self, test: checked.ResourceTest, *, covering: bool, absent_is_false: bool
    ) -> int | None:
        """Return the number of a test; None if calls were evaluated before it was added."""
        # Without a lock: tests are numbered while the tool's function is generated, and no other
        # thread has these declarations before that.
        anything = test.operand is None and test.permits
        covering = covering or test.any_redirection
        key = (
            test.form, test.operand, test.beside, anything, covering, absent_is_false, test.surely
        )  # fmt: skip
        number = self._numbers.get(key)
        if number is None and self._sorted is None:
            self._tests.append(_Asked(test, covering, absent_is_false))
            if test.operand is not None and test.operand.kind == "paths":
                every_path_set(self._declared).add(test.operand)
            # Published last, so that a thread that finds the number finds the test.
            number = self._numbers[key] = len(self._tests)
        return number

    def ask(self, call: Evaluation) -> Answers:
        """Return the answers for a call, computed once for all rules."""
        effects = call.known_effects.get(self._declared) or call.effects(self._declared)
        found: Answers | None = effects.answers.get(self)
        if found is None:
            found = self._found(call, effects)
            # Answers on demand refer to the call; storing them in its effects would be a cycle.
            effects.answers[self] = _ONE_BY_ONE if found is None else found
        elif found is _ONE_BY_ONE:
            found = None
        return _OneByOne(self, call) if found is None else found

    def alone(self, number: int, call: Evaluation) -> Truth:
        """Evaluate one test by itself; its position decides what absent resources mean."""
        asked = self._tests[number - 1]
        own = self._own.get(number)
        if own is None:
            own = compile_resource_test(asked.test, self._declared, covering=asked.covering)
            self._own[number] = own
        truth = own(call)
        if isinstance(truth, Absent):
            return False if asked.absent_is_false else _ABSENT
        return truth

    def _found(self, call: Evaluation, effects: CallEffects) -> Answers | None:
        """Return the answers; None where each test must be evaluated by itself."""
        tests = self._sorted
        if tests is None:
            tests = self._sorted = _Sorted(self._tests, self._declared.profiles)
        items = effects.items.get(self._verb) or effects.of(self._verb)
        if not items and tests.plain and effects.certain:
            return _NOTHING
        if len(items) == 1 and tests.commands is not None:
            settled = _of_one_command(tests, items[0].thing, effects)
            if settled is not None:
                return settled
        holding = tests.holding(items, call, effects)
        if holding is None:
            return None
        if len(holding) == 1:
            some = every = holding[0]
        else:
            some = set[int]().union(*holding)
            every = set(tests.all).intersection(*holding)
        if tests.commands is not None:
            found, again = _of_commands(tests, effects, some=some, every=every)
        else:
            found, again = _of_places(tests, call, effects, verb=self._verb, some=some, every=every)
        for number in again:
            truth = self.alone(number, call)
            if truth is True:
                found.add(number)
            elif truth is not False:
                found.add(~number)
        found.add(_NO_TEST)
        return found


class _OneByOne:
    """Answers that are evaluated on demand, each by its own test."""

    __slots__ = ("_cached", "_call", "_tests")

    def __init__(self, tests: BatchedTests, call: Evaluation) -> None:
        self._tests = tests
        self._call = call
        self._cached: dict[int, bool] = {}

    def __contains__(self, number: object) -> bool:
        assert isinstance(number, int)
        cached = self._cached.get(number)
        if cached is None:
            test = number if number >= 0 else ~number
            truth = self._tests.alone(test, self._call)
            self._cached[test] = truth is True
            self._cached[~test] = isinstance(truth, Indeterminate)
            cached = self._cached[number]
        return cached


def true_or_indeterminate(answers: Answers, tests: Mapping[int, object]) -> list[int]:
    """Return the numbers, among those of `tests`, of the tests that are true or open."""
    if isinstance(answers, set | frozenset):
        reached = (number if number >= 0 else ~number for number in answers)
        return [number for number in reached if number in tests]
    return [number for number in tests if number in answers or ~number in answers]


@dataclass(frozen=True, slots=True)
class _Asked:
    """A test, and how its position in a rule interprets it."""

    test: checked.ResourceTest
    covering: bool
    absent_is_false: bool


class _Sorted:
    """The tests by form, and the sets for look-ups; tests in `alone` are evaluated separately.

    `plain`: all have the plain form. `simple`: all are about commands, with patterns of a single
    command, without exceptions, and none has the form `outside`.
    """

    __slots__ = (
        "_hosts", "_paths", "all", "alone", "commands", "only", "outside", "plain", "simple",
        "some",
    )  # fmt: skip

    def __init__(self, tests: Sequence[_Asked], profiles: Profiles) -> None:
        some: set[int] = set()
        only: set[int] = set()
        outside: set[int] = set()
        paths: dict[int, PreparedPaths] = {}
        hosts: dict[int, PreparedHosts] = {}
        commands: dict[int, tuple[CommandPattern, ...]] = {}
        alone: set[int] = set()
        for number, asked in enumerate(tests, 1):
            values = asked.test.operand
            prepared = None if values is None else _prepared(values, profiles)
            match prepared:
                case PreparedPaths():
                    paths[number] = prepared
                case PreparedHosts() if prepared.spelled is not None:
                    hosts[number] = prepared
                case tuple():
                    commands[number] = prepared
                case _:
                    alone.add(number)
                    continue
            assert values is not None
            form = asked.test.form if values.included else "only"
            (only if form == "only" else outside if form == "outside" else some).add(number)
        self.some, self.only, self.outside = frozenset(some), frozenset(only), frozenset(outside)
        self.all = self.some | self.only | self.outside
        self.alone = frozenset(alone)
        self.plain = not (only or outside or alone)
        self.simple = not (outside or alone) and all(
            asked.test.operand is not None and not _has_exceptions(asked.test.operand)
            for asked in tests
        )
        self.simple = self.simple and not any(
            pattern.inner for patterns in commands.values() for pattern in patterns
        )
        self._paths = PathSets(paths) if paths else None
        self._hosts = HostSets(hosts) if hosts else None
        self.commands = CommandSets(commands) if commands else None

    def holding(
        self, items: Sequence[KnownResource], call: Evaluation, effects: CallEffects
    ) -> list[set[int]] | None:
        """Return which sets (may) contain each resource; None if one needs its own tests."""
        found: list[set[int]] = []
        for item in items:
            thing = item.thing
            holding: set[int] | None = None
            if isinstance(thing, Path):
                if self._paths is not None:
                    holding = self._paths.containing(thing, effects.paths)
            elif isinstance(thing, Endpoint):
                # Other tests may resolve host names, which is done only when a rule needs it.
                if self._hosts is not None and not (self.alone and call.hosts is not None):
                    holding = self._hosts.containing(thing)
            elif isinstance(thing, Invocation) and self.commands is not None:
                holding = self.commands.candidates(thing)
            if holding is None:
                return None
            found.append(holding)
        return found

    def unsure(self, effects: CallEffects) -> tuple[int, ...]:
        """Return the tests with patterns below folders that are unknown."""
        return () if self._paths is None else self._paths.unindexed(effects.paths)


def _prepared(
    values: checked.ValueSet, profiles: Profiles
) -> PreparedPaths | PreparedHosts | tuple[CommandPattern, ...] | None:
    """Return a set prepared for look-ups; None where it needs its own test."""
    if values.kind == "commands":
        # Whether a command has inline code is not a question of patterns.
        return None if mentions_inline_code(values) else patterns_of(values, profiles)
    parts, outs = listed_items(values.included), listed_items(values.excluded)
    if parts is None or outs is None:
        return None
    match values.kind:
        case "paths":
            return prepared_paths(parts, outs)
        case "hosts":
            return prepared_hosts(parts, outs)
        case _:
            return None


def _has_exceptions(values: checked.ValueSet) -> bool:
    """Return whether a set, or one inside it, has exceptions."""
    nested = (part for part in values.included if isinstance(part, checked.ValueSet))
    return bool(values.excluded) or any(map(_has_exceptions, nested))


# ------------------------------------------------------------------ answers of the batch


def _of_one_command(tests: _Sorted, command: object, effects: CallEffects) -> set[int] | None:
    """Return the answers where the call runs a single plain command, else None."""
    if not (tests.simple and effects.certain and effects.complete):
        return None
    if not isinstance(command, Invocation) or not runs_nothing_else(command):
        return None
    assert tests.commands is not None
    if command.command.redirections:
        return None
    found, perhaps = tests.commands.covering(command)
    found.update(~number for number in perhaps)
    found.add(_NO_TEST)
    return found


def _of_places(
    tests: _Sorted,
    call: Evaluation,
    effects: CallEffects,
    *,
    verb: str,
    some: set[int],
    every: set[int],
) -> tuple[set[int], set[int]]:
    """Return the true or open tests of paths or hosts, and those to evaluate separately."""
    unsure = tests.unsure(effects)
    hidden = unseen_effects(verb, effects) if tests.only else None
    absent = verb in effects.absent and not effects.of(verb)
    if some is every and effects.certain and hidden is None and not (unsure or tests.outside):
        # All tests have the plain form or `only`: a test whose set contains the resource is true.
        return some, set(tests.alone)
    found = (some & tests.some) | (tests.outside - every)
    inside = every & tests.only
    again = {*tests.alone, *unsure}
    if absent:
        again |= tests.only
    elif hidden is None:
        found |= inside
    elif sandbox_enforces(verb, call):
        # A sandbox keeps code within some sets, and not within others.
        again |= inside
    else:
        found.update(~number for number in inside)
    if not effects.certain:
        # An undeclared string may be a resource that a test is about.
        again |= (tests.some | tests.outside) - found
    return found - again, again


def _of_commands(
    tests: _Sorted, effects: CallEffects, *, some: set[int], every: set[int]
) -> tuple[set[int], set[int]]:
    """Return no answers, and the tests to evaluate separately: no other pattern can match."""
    again = (some & tests.some) | (every & tests.only) | tests.outside | tests.alone
    if not effects.certain:
        again |= tests.some
    return set(), again

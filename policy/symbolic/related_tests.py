"""`RelatedTests`: what resource tests imply about each other, kept from one claim to the next.

Claims about a tool ask for the same tests of the same rules. Which of their sets include others
depends on nothing else, so that two tests are compared once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from policy.catalog import Verb
from policy.checks import checked
from policy.evaluation import DeclaredResources, is_as_enforceable
from policy.symbolic.command_relations import CommandSet, command_set
from policy.symbolic.set_relations import includes, shares_nothing
from policy.symbolic.situation import HOME, WORKSPACE
from policy.symbolic.truths import Truths
from policy.syntax import tree
from policy.values import PathContext

# Two literals, of which one implies the other. They stand for those of two tests: 1 and 2 that the
# first one is true and false, 3 and 4 the same of the second, negative numbers for the negations.
Implication: TypeAlias = tuple[int, int]
_FIRST, _SECOND = Truths(1, 2), Truths(3, 4)


@dataclass(frozen=True, slots=True, kw_only=True)
class Meaning:
    """A resource test in its scope, as far as its truth depends on them."""

    verb: Verb
    form: tree.Form
    operand: checked.ValueSet | None
    beside: checked.ValueSet | None
    surely: bool
    absent_is_false: bool
    covering: bool


class RelatedTests:
    """The resource tests of one tool by number, and what each two of them imply."""

    def __init__(self) -> None:
        self._numbers: dict[Meaning, list[int]] = {}
        self._tests: list[tuple[Meaning, DeclaredResources]] = []
        # The sets of tests of commands.
        self._commands: list[CommandSet | None] = []
        self._implications: list[dict[int, tuple[Implication, ...]]] = []

    def number(self, test: Meaning, declared: DeclaredResources) -> int:
        """Return the number of a test in a layer; the same for layers that declare the same."""
        among = self._numbers.setdefault(test, [])
        for number in among:
            if self._tests[number][1].says_the_same(declared):
                return number
        made = len(self._tests)
        among.append(made)
        self._tests.append((test, declared))
        self._commands.append(
            None if test.operand is None else command_set(test.operand, declared.profiles)
        )
        self._implications.append({})
        for number, (other, others_declared) in enumerate(self._tests[:-1]):
            if other.verb == test.verb and others_declared.says_the_same(declared):
                self._compare(number, made)
        return made

    def implications(self, first: int) -> Mapping[int, tuple[Implication, ...]]:
        """Return what the first of two tests and others imply, by the numbers of the others."""
        return self._implications[first]

    def _compare(self, one: int, other: int) -> None:
        """Note what two tests imply, in an order that does not depend on which came first."""
        (test, declared), (others_test, _) = self._tests[one], self._tests[other]
        found = {
            *_implied(test, others_test, _FIRST, _SECOND, declared),
            *_implied(others_test, test, _SECOND, _FIRST, declared),
        }
        commands, others_commands = self._commands[one], self._commands[other]
        if commands is not None and others_commands is not None:
            complete = declared.complete
            here, there = _Commands(test, commands), _Commands(others_test, others_commands)
            found.update(_implied_of_commands(here, there, _FIRST, _SECOND, complete=complete))
            found.update(_implied_of_commands(there, here, _SECOND, _FIRST, complete=complete))
        if found:
            self._implications[one][other] = tuple(sorted(found))
            self._implications[other][one] = tuple(sorted(map(_other_way_round, found)))


def _other_way_round(found: Implication) -> Implication:
    """Return an implication with the two tests exchanged."""
    premise, conclusion = (
        number + 2 if number in (1, 2, -3, -4) else number - 2 for number in found
    )
    return premise, conclusion


def _implied(
    one: Meaning,
    other: Meaning,
    this: Truths,
    that: Truths,
    declared: DeclaredResources,
) -> Iterator[Implication]:
    """Yield what the truth `this` of one test implies for `that` of another one."""
    small, large = one.operand, other.operand
    if small is None or large is None:
        return
    all_are_known = declared.complete and "runs" not in declared.verbs
    are_like = _but_for_the_set(one) == _but_for_the_set(other)
    are_as_absent = one.absent_is_false == other.absent_is_false
    if are_like and are_as_absent and includes(large, small):
        # In a larger set: more is in it, and less is outside of it.
        smaller, larger = (that, this) if one.form == "outside" else (this, that)
        if one.form != "only" or _is_as_enforceable(small, large, declared):
            yield smaller.holds, larger.holds
        yield larger.fails, smaller.fails
    if are_like and not are_as_absent and small == large:
        # The two differ in what an absent argument means: indeterminate, or false.
        yield this.holds, that.holds
        if other.absent_is_false:
            yield this.fails, that.fails
    if one.form == "only" and (
        (other.form == "some" and shares_nothing(small, large))
        or (other.form == "outside" and small == large)
    ):
        # What is accessed is in the first set, so that it is not what the second test wants.
        yield this.holds, that.fails if all_are_known else -that.holds


@dataclass(frozen=True, slots=True)
class _Commands:
    """A test of commands, and its set."""

    test: Meaning
    commands: CommandSet


def _implied_of_commands(
    this_test: _Commands, that_test: _Commands, this: Truths, that: Truths, *, complete: bool
) -> Iterator[Implication]:
    """Yield what a test of commands implies for another one, by the patterns of both."""
    one, first = this_test.test, this_test.commands
    other, second = that_test.test, that_test.commands
    if one.form == other.form == "some":
        if second.surely_holds_all_of(first):
            yield this.holds, that.holds
        if second.may_hold_all_of(first):
            yield that.fails, this.fails
    if one.form == "some":
        return
    # That all commands are in the first set.
    inside = this.holds if one.form == "only" else this.fails
    if other.form == "some" and complete and first.excludes(second):
        yield inside, that.fails
    # Where `only` covers effects, another clause of the rule may cover redirections.
    if other.form == "outside" and not one.covering and second.surely_holds_all_of(first):
        yield inside, that.fails
    if one.form == other.form == "only" and one.covering in (False, other.covering):
        are_like = (one.beside, one.surely, one.absent_is_false) == (
            other.beside,
            other.surely,
            other.absent_is_false,
        )
        if are_like and second.surely_holds_all_of(first):
            yield this.holds, that.holds


def _but_for_the_set(one: Meaning) -> tuple[object, ...]:
    return one.form, one.beside, one.surely, one.covering


def _is_as_enforceable(
    small: checked.ValueSet, large: checked.ValueSet, declared: DeclaredResources
) -> bool:
    """Return whether a sandbox that keeps code within a set also makes a larger one hold."""
    if declared.complete and not declared.unseen and "runs" not in declared.verbs:
        return True
    paths = PathContext(home=HOME, workspace=WORKSPACE)
    return is_as_enforceable(small, large, paths)

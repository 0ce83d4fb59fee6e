"""The parser's stack and a terminal in; what is built then, and the stack after it, out.

All that the tables say of a stack and a terminal is said once: texts lead through few stacks, so a
step from one to the next is looked up whole, and no state is pushed or popped for a text.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from policy.syntax.automaton import END, Automaton, Edit, State, Step
from policy.syntax.builder import Builder

# Texts may be hostile: of so many stacks it is known where they lead, of others each time anew.
_MOST = 20_000

Build: TypeAlias = Callable[[Builder, list[Any]], Any]


class Stack:
    """A state on top of others; `above` and `moves` are filled in when a text first leads there.

    Filling in twice gives the same, so any number of threads may share stacks.
    """

    __slots__ = ("above", "below", "moves", "state")

    def __init__(self, state: State, below: Stack | None) -> None:
        self.state = state
        self.below = below
        self.above: dict[State, Stack] = {}
        self.moves: dict[int, Move] = {}


class Building(NamedTuple):
    """One node to be built: of so many values, edited like this, by that method of the builder."""

    size: int
    edits: tuple[Edit, ...]
    grows: bool
    call: Build


class Move(NamedTuple):
    """What is built before a terminal, and the stack with it on top; None behind the last one."""

    built: tuple[Building, ...]
    after: Stack | None


class Stacks:
    """The stacks that an automaton has been led through."""

    __slots__ = ("_automaton", "_known", "_starts")

    def __init__(self, automaton: Automaton) -> None:
        self._automaton = automaton
        self._known = 0
        self._starts = {
            rule: (Stack(first, None), last) for rule, (first, last) in automaton.starts.items()
        }

    @property
    def automaton(self) -> Automaton:
        """The automaton whose states these are stacks of."""
        return self._automaton

    def start(self, rule: str) -> tuple[Stack, State]:
        """Return the stack before the first word of a text, and the state behind its last one."""
        return self._starts[rule]

    def on(self, below: Stack, state: State) -> Stack:
        """Return the stack with a state on top of another one."""
        found = below.above.get(state)
        if found is None:
            found = Stack(state, below)
            if self._known < _MOST:
                self._known += 1
                found = below.above.setdefault(state, found)
        return found

    def move(self, stack: Stack, terminal: int, last: State) -> Move | None:
        """Return where a terminal leads from a stack, None where it may not stand there."""
        built: list[Building] = []
        before = stack
        step = self._automaton.opened(stack.state).steps.get(terminal)
        while step is not None:
            for _ in range(step.size):
                assert stack.below is not None
                stack = stack.below
            if not step.alone:
                built.append(_building(step))
            there, step = self._automaton.leap(stack.state, step.symbol, terminal)
            stack = self.on(stack, there)
        if terminal == END:
            move = Move(tuple(built), None) if stack.state is last else None
        else:
            state = stack.state.shifts.get(terminal)
            move = None if state is None else Move(tuple(built), self.on(stack, state))
        if move is not None:
            before.moves[terminal] = move
        return move


def _building(step: Step) -> Building:
    return Building(step.size, step.edits, step.grows, step.call)

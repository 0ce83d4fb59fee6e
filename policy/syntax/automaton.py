"""The prebuilt tables -> the states of the parser, each opened when a text first leads there.

A policy leads through a fraction of the states, so rows are read as they are needed, and a scanner
is compiled for a state that texts often lead to. What is filled in later depends on the tables
alone, never on a text that was read, and filling it in twice gives the same: any number of threads
may share an automaton.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, TypeAlias

from policy.syntax import prebuilt
from policy.syntax.builder import Builder
from policy.syntax.scanner import END as END
from policy.syntax.scanner import Scanner, compiled_scanner
from policy.syntax.trying import first_scanner

# Put this in place of the children from here to there; None: what is in the list that stands there.
Edit: TypeAlias = tuple[int, int, "tuple[None, ...] | None"]

# Symbols are told apart from terminals by these.
_BITS = 10


class Step:
    """What a rule does: takes `size` children off the stack, edits them and calls the builder."""

    __slots__ = ("alone", "call", "edits", "grows", "size", "symbol")

    def __init__(self, symbol: int, method: str, fates: str) -> None:
        self.symbol = symbol << _BITS
        self.size = len(fates) - fates.count("n")
        # The first child is a list that the others are put behind: it grows and is never copied,
        # or a list of n would take n * n steps.
        self.grows = fates.startswith("x")
        self.edits = tuple(_edits("k" + fates[1:] if self.grows else fates))
        self.call: Callable[[Builder, list[Any]], Any] = _CALLS.get(method) or getattr(
            Builder, method
        )
        # A rule that only gives its one child another name.
        self.alone = method == "=" and self.size == 1


class State:
    """A state of the parser; all but its number is filled in later."""

    __slots__ = ("leaps", "number", "open", "scanner", "shifts", "steps")

    def __init__(self, number: int) -> None:
        self.number = number
        self.open = False
        self.scanner: Scanner | None = None
        # By terminal or symbol: the state to go to; by terminal: what is to be built before that.
        self.shifts: dict[int, State] = {}
        self.steps: dict[int, Step] = {}
        # By a symbol that was built on top of this state and the terminal behind it: where that
        # leads and what is to be built there, past all the rules that only rename a child.
        self.leaps: dict[int, tuple[State, Step | None]] = {}


class Automaton:
    """The states of the grammar, and where each start rule begins and ends."""

    __slots__ = ("_states", "_steps", "kept", "names", "starts")

    def __init__(self) -> None:
        self._states = tuple(State(number) for number in range(len(prebuilt.ROWS)))
        self._steps: dict[int, Step] = {}
        self.names = ("$END", *(name for name, _, _, _ in prebuilt.TERMINALS))
        # Whether anything is built of a terminal.
        self.kept = (False, *(kept for _, kept, _, _ in prebuilt.TERMINALS))
        self.starts = {
            start: (self._states[first], self._states[last])
            for start, (first, last) in prebuilt.STARTS.items()
        }

    def opened(self, state: State) -> State:
        """Return the state with its row read."""
        if state.open:
            return state
        for part in prebuilt.ROWS[state.number].split():
            symbol, goes, there = part.partition(">")
            if goes:
                number = int(symbol)
                key = number if number < len(self.names) else number << _BITS
                state.shifts[key] = self._states[int(there)]
                continue
            rule, _, terminals = part.partition("<")
            step = self._step(int(rule))
            for terminal in terminals.split(","):
                state.steps[int(terminal)] = step
        state.open = True
        return state

    def scanner(self, state: State) -> Scanner:
        """Return what finds the next token in a state."""
        self.opened(state)
        awaited = {one for one in (*state.shifts, *state.steps) if END < one < len(self.names)}
        terminals = tuple(sorted(awaited))

        def settle() -> Scanner:
            state.scanner = compiled_scanner(terminals)
            return state.scanner

        state.scanner = first_scanner(terminals, settle)
        return state.scanner

    def leap(self, state: State, symbol: int, terminal: int) -> tuple[State, Step | None]:
        """Return where a symbol built on top of a state leads, and what is to be built there."""
        key = symbol | terminal
        while True:
            there = self.opened(self.opened(state).shifts[symbol])
            step = there.steps.get(terminal)
            if step is None or not step.alone:
                break
            symbol = step.symbol
        state.leaps[key] = found = (there, step)
        return found

    def _step(self, number: int) -> Step:
        step = self._steps.get(number)
        if step is None:
            step = self._steps[number] = Step(*prebuilt.RULES[number])
        return step


@cache
def automaton() -> Automaton:
    """Return the automaton of this process."""
    return Automaton()


def _edits(fates: str) -> Iterator[Edit]:
    """Return the edits of a rule's children from the last to the first, so that places stay."""
    place = len(fates) - fates.count("n")
    for fate in reversed(fates):
        if fate == "n":
            yield place, place, (None,)
            continue
        place -= 1
        if fate == "d":
            yield place, place + 1, ()
        elif fate == "x":
            yield place, place + 1, None


def _the_list(_builder: Builder, children: list[Any]) -> list[Any]:
    return children


def _the_child(_builder: Builder, children: list[Any]) -> Any:
    return children[0]


_CALLS: dict[str, Callable[[Builder, list[Any]], Any]] = {"*": _the_list, "=": _the_child}

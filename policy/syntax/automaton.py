"""The prebuilt tables -> the states of the parser, each opened when a text first leads there.

A policy leads through a fraction of the states, so rows are read and expressions compiled as they
are needed. What is filled in later depends on the tables alone, never on a text that was read, and
filling it in twice gives the same: any number of threads may share an automaton.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from itertools import groupby
from typing import Any, NamedTuple, TypeAlias

from policy.syntax import prebuilt
from policy.syntax.builder import Builder

# The terminal `$END`: behind the last word of a text.
END = 0

# Put this in place of the children from here to there; None: what is in the list that stands there.
Edit: TypeAlias = tuple[int, int, "tuple[None, ...] | None"]

_WORD_END = r"(?![A-Za-z0-9_-])"
_GAP = r"[ \t]+"
# Symbols are told apart from terminals by these.
_BITS = 10
# No terminal: no state goes on from here.
_UNKNOWN = -1


class Scanner(NamedTuple):
    """Finds the next token of a state, and the blanks behind it.

    A terminal ends in an empty group of its own; `terminals` gives it by the number of that group,
    or END where the text is one of `words`.
    """

    match: Callable[[str, int], re.Match[str] | None]
    terminals: tuple[int, ...]
    words: dict[str, int]


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
        state.scanner = _scanner(tuple(sorted(awaited)))
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


class _Words(dict[str, int]):
    """Terminals by what is written, with one blank for any number between two words."""

    def __missing__(self, text: str) -> int:
        return self.get(" ".join(text.split()), _UNKNOWN)


@cache
def _scanner(awaited: tuple[int, ...]) -> Scanner:
    """Return the scanner of these terminals, tried in this order.

    Neighbours that are words, or marks, are one alternative: each ends as the others do, so the
    order stays, what is written tells them apart, and there is little to compile.
    """
    parts: list[str] = []
    terminals = [END]
    words = _Words()
    entries = [(number, *prebuilt.TERMINALS[number - 1][2:]) for number in awaited]
    for kind, group in groupby(entries, key=lambda entry: _kind(entry[1])):
        if kind == "expression":
            for number, _, expression in group:
                parts.append(f"{expression}()")
                terminals.append(number)
            continue
        said = [(said, number) for number, row, _ in group for said in _said(row)]
        for one, number in said:
            words.setdefault(one, number)
        choice = "|".join(re.escape(one).replace("\\ ", _GAP) for one, _ in said)
        parts.append(f"(?:{choice}){_WORD_END if kind == 'words' else ''}()")
        terminals.append(END)
    expression = f"(?:{'|'.join(parts)})(?:{prebuilt.BLANKS})?" if parts else "(?!)"
    return Scanner(re.compile(expression).match, tuple(terminals), words)


def _kind(words: str) -> str:
    if not words:
        return "expression"
    return "words" if words[0].isalpha() else "mark"


def _said(words: str) -> list[str]:
    return words.split("|") if words[0].isalpha() else [words]


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

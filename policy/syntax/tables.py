"""Load the grammar's LALR(1) tables from `tables.json`: terminals, rules and states.

The file is written from Lark (`pytest --update-cases tests/unit/syntax`). Cached values depend on
the file alone, so threads share the tables.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache, cached_property
from typing import Any

from policy.syntax.builder import NodeBuilder

# The terminal at the end of a text.
END = "$END"


class Terminal:
    """A terminal of the grammar, with the blanks that may follow it.

    `first` are the ASCII characters that it may begin with. `kept` is whether nodes are built from
    it.
    """

    def __init__(self, *, name: str, pattern: str, first: str, kept: bool, blanks: str) -> None:
        self.name = name
        self.kept = kept
        self.first = frozenset(first)
        self._pattern = f"({pattern})(?:{blanks})?"

    @cached_property
    def match(self) -> Callable[[str, int], re.Match[str] | None]:
        """Match the terminal at an offset: group 1, followed by the blanks."""
        return re.compile(self._pattern).match


class GrammarRule:
    """A production: how many values it pops off the stack, and what it builds from them.

    `children` has a letter for each child: `k` is kept, `d` dropped, `x` a list whose items take
    its place, `n` the None of an optional part that is absent.
    """

    def __init__(self, *, symbol: str, call: str, children: str) -> None:
        self.symbol = symbol
        self.size = len(children) - children.count("n")
        # A rule that only renames its single child.
        self.renames = call == "=" and self.size == 1
        self._build = _CALLS.get(call) or getattr(NodeBuilder, call)
        self._children = children
        self._keeps_all = set(children) <= {"k"}

    def build(self, builder: NodeBuilder, values: list[Any]) -> Any:
        """Return the node that the builder makes of the values of the rule's symbols."""
        return self._build(builder, values if self._keeps_all else self._chosen(values))

    def _chosen(self, values: list[Any]) -> list[Any]:
        children: list[Any] = []
        waiting = iter(values)
        for fate in self._children:
            if fate == "n":
                children.append(None)
                continue
            value = next(waiting)
            if fate == "k":
                children.append(value)
            elif fate == "x":
                # The first list grows in place: copying it for each item would be quadratic.
                children = value if not children else children + value
        return children


class State:
    """A state of the parser.

    `next` has the state after each symbol, `reductions` the rule that ends before each terminal.
    """

    def __init__(
        self, states: States, *, next: dict[str, int], reductions: dict[str, GrammarRule]
    ) -> None:
        self.next = next
        self.reductions = reductions
        self._states = states
        self._awaited = [
            one for one in states.terminals if one.name in next or one.name in reductions
        ]
        self._candidates: dict[str, list[Terminal]] = {}
        self._after: dict[tuple[str, str], State] = {}

    def candidates(self, character: str) -> list[Terminal]:
        """Return the terminals possible here that begin with a character, in their order."""
        found = self._candidates.get(character)
        if found is None:
            if not character.isascii():
                return self._awaited
            found = [one for one in self._awaited if character in one.first]
            self._candidates[character] = found
        return found

    def after(self, symbol: str, terminal: str) -> State:
        """Return the state after a symbol that a terminal follows.

        Rules that only rename the symbol there are skipped: a number is renamed up to nine times
        before it is an operand of a comparison.
        """
        found = self._after.get((symbol, terminal))
        if found is None:
            found = self._states[self.next[symbol]]
            rule = found.reductions.get(terminal)
            if rule is not None and rule.renames:
                found = self.after(rule.symbol, terminal)
            self._after[symbol, terminal] = found
        return found


class States(dict[int, State]):
    """The states by number, each created on first use."""

    def __init__(
        self,
        rows: list[dict[str, dict[str, int]]],
        *,
        rules: list[GrammarRule],
        terminals: list[Terminal],
    ) -> None:
        super().__init__()
        self.terminals = terminals
        self._rows = rows
        self._rules = rules

    def __missing__(self, number: int) -> State:
        row = self._rows[number]
        reductions = {name: self._rules[rule] for name, rule in row["reduce"].items()}
        return self.setdefault(number, State(self, next=row["next"], reductions=reductions))


class Tables:
    """The tables of one grammar: its states, and the first and the last of each start rule."""

    def __init__(self, data: dict[str, Any]) -> None:
        blanks = data["blanks"]
        self.starts: dict[str, tuple[int, int]] = data["starts"]
        self.states = States(
            data["states"],
            rules=[GrammarRule(**row) for row in data["rules"]],
            # In the order in which they are tried.
            terminals=[Terminal(**row, blanks=blanks) for row in data["terminals"]],
        )


@cache
def tables() -> Tables:
    """Return the tables that come with the package."""
    # The loader of this module finds the file in an archive as well.
    loader: Any = __spec__.loader
    return Tables(json.loads(loader.get_data(__file__.removesuffix(".py") + ".json")))


def _the_list(_builder: NodeBuilder, children: list[Any]) -> list[Any]:
    return children


def _the_child(_builder: NodeBuilder, children: list[Any]) -> Any:
    return children[0]


_CALLS: dict[str, Callable[[NodeBuilder, list[Any]], Any]] = {"*": _the_list, "=": _the_child}

"""The terminals that a state awaits -> what finds the next token, as one compiled expression."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from itertools import groupby
from typing import NamedTuple, Protocol

from policy.syntax import prebuilt

__all__ = ["END", "Found", "Scanner", "compiled_scanner", "kind_of", "said_in"]

# The terminal `$END`: behind the last word of a text.
END = 0

_WORD_END = r"(?![A-Za-z0-9_-])"
_GAP = r"[ \t]+"
# No terminal: no state goes on from here.
_UNKNOWN = -1


class Found(Protocol):
    """A token that was found: the group of its terminal, its end, and that of the blanks behind."""

    @property
    def lastindex(self) -> int | None: ...  # noqa: D102

    def end(self, group: int = 0, /) -> int: ...  # noqa: D102


class Scanner(NamedTuple):
    """Finds the next token of a state, and the blanks behind it.

    A terminal ends in an empty group of its own; `terminals` gives it by the number of that group,
    or END where the text is one of `words`.
    """

    match: Callable[[str, int], Found | None]
    terminals: tuple[int, ...]
    words: dict[str, int]


class _Words(dict[str, int]):
    """Terminals by what is written, with one blank for any number between two words."""

    def __missing__(self, text: str) -> int:
        return self.get(" ".join(text.split()), _UNKNOWN)


@cache
def compiled_scanner(awaited: tuple[int, ...]) -> Scanner:
    """Return the scanner of these terminals, tried in this order.

    Neighbours that are words, or marks, are one alternative: each ends as the others do, so the
    order stays, what is written tells them apart, and there is little to compile.
    """
    parts: list[str] = []
    terminals = [END]
    words = _Words()
    entries = [(number, *prebuilt.TERMINALS[number - 1][2:]) for number in awaited]
    for kind, group in groupby(entries, key=lambda entry: kind_of(entry[1])):
        if kind == "expression":
            for number, _, expression in group:
                parts.append(f"{expression}()")
                terminals.append(number)
            continue
        said = [(said, number) for number, row, _ in group for said in said_in(row)]
        for one, number in said:
            words.setdefault(one, number)
        choice = "|".join(re.escape(one).replace("\\ ", _GAP) for one, _ in said)
        parts.append(f"(?:{choice}){_WORD_END if kind == 'words' else ''}()")
        terminals.append(END)
    expression = f"(?:{'|'.join(parts)})(?:{prebuilt.BLANKS})?" if parts else "(?!)"
    return Scanner(re.compile(expression).match, tuple(terminals), words)


def kind_of(words: str) -> str:
    """Return what a terminal is: words, a mark, or an expression."""
    if not words:
        return "expression"
    return "words" if words[0].isalpha() else "mark"


def said_in(words: str) -> list[str]:
    """Return each way to say a terminal that is words or a mark."""
    return words.split("|") if words[0].isalpha() else [words]

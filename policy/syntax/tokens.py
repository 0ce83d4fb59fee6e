"""A word or mark of the text as the builder gets it: its terminal, its text and its place."""

from __future__ import annotations

from typing import TypeAlias

# How the grammar calls a word or mark: `NAME`, `STRING`, `VERDICT`.
Terminal: TypeAlias = str


class Token:
    """A word or mark that a node is built of.

    A plain class: there are twenty in a rule, they live until their node is built, and a frozen
    record takes three times as long to make.
    """

    __slots__ = ("end", "kind", "start", "text")

    def __init__(self, kind: Terminal, text: str, start: int, end: int) -> None:
        self.kind = kind
        self.text = text
        self.start = start
        self.end = end

"""A word or mark of the text as the builder gets it: its terminal, its text and its place."""

from __future__ import annotations

from typing import NamedTuple


class Token(NamedTuple):
    """A word or mark that a node is built of; `kind` is its terminal, such as `NAME`."""

    kind: str
    text: str
    start: int
    end: int

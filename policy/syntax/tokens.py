"""The token that the builder receives: its terminal, its text and its offsets."""

from __future__ import annotations

from typing import NamedTuple


class Token(NamedTuple):
    """A token that a node is built of; `kind` is its terminal, such as `NAME`."""

    kind: str
    text: str
    start: int
    end: int

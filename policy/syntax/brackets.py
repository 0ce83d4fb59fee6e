"""Finds the open brackets of a statement, ignoring those in strings."""

from __future__ import annotations

import re

PAIRS = {"(": ")", "[": "]", "{": "}"}
_PIECE = re.compile(r'"(?:[^"\\\n]|\\.)*"?|[()\[\]{}]')


def innermost_open(text: str, at: int) -> int | None:
    """Return the offset of the last bracket that is open at an offset, None if there is none."""
    opened = _open(text, at)
    return opened[-1] if opened else None


def is_closed(text: str, opened: int) -> bool:
    """Return whether a bracket is closed in the rest of the text."""
    return opened not in _open(text, len(text))


def _open(text: str, end: int) -> list[int]:
    """Return the offsets of the brackets that are open at the end of a part of the text."""
    opened: list[int] = []
    for piece in _PIECE.finditer(text, 0, end):
        char = piece[0]
        if char in PAIRS:
            opened.append(piece.start())
        elif opened and char == PAIRS[text[opened[-1]]]:
            opened.pop()
    return opened

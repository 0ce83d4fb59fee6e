"""Shrinks a script to a smaller one that still has the same effect."""

from __future__ import annotations

from collections.abc import Callable

_MOST_TRIES = 200


def shrink(script: str, still: Callable[[str], bool]) -> str:
    """Leave away what can be: long stretches of characters first, then shorter ones."""
    tries = 0
    size = max(1, len(script) // 2)
    while size:
        place = 0
        shorter = False
        while place < len(script) and tries < _MOST_TRIES:
            candidate = script[:place] + script[place + size :]
            tries += 1
            if candidate.strip() and still(candidate):
                script, shorter = candidate, True
            else:
                place += size
        if not shorter or tries >= _MOST_TRIES:
            size //= 2
    return script

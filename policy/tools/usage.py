"""Tokens that a running tool reports."""

from __future__ import annotations

import threading

_MOST = 2**53
# One for all: tools seldom report, and every call has a count.
_ADDING = threading.Lock()


class Usage:
    """A count of tokens; None until something is reported. A tool may report from any thread."""

    __slots__ = ("tokens",)

    def __init__(self) -> None:
        self.tokens: int | None = None

    def add(self, count: int) -> None:
        """Count more tokens; raise ValueError if `count` is not a valid number."""
        valid = tokens(count)
        if valid is None:
            raise ValueError("a number of tokens is a whole number, and not negative")
        with _ADDING:
            self.tokens = min((self.tokens or 0) + valid, _MOST)


def tokens(count: object) -> int | None:
    """Return `count` if it is a valid number of tokens, else None."""
    if isinstance(count, int) and not isinstance(count, bool) and 0 <= count <= _MOST:
        return count
    return None

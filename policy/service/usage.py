"""What one running call has used, as its tool reports it."""

from __future__ import annotations

import threading

_MOST = 2**53


class Usage:
    """A count of tokens; None until something is reported. A tool may report from any thread."""

    def __init__(self) -> None:
        self._tokens: int | None = None
        self._adding = threading.Lock()

    @property
    def tokens(self) -> int | None:
        """The tokens reported so far."""
        return self._tokens

    def add(self, count: int) -> None:
        """Count more tokens; raise ValueError for what is no number of them."""
        known = tokens(count)
        if known is None:
            raise ValueError("a number of tokens is a whole number, and not negative")
        with self._adding:
            self._tokens = min((self._tokens or 0) + known, _MOST)


def tokens(count: object) -> int | None:
    """Return a number of tokens, None for what is none."""
    if isinstance(count, int) and not isinstance(count, bool) and 0 <= count <= _MOST:
        return count
    return None

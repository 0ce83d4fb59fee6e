"""`Pace`: limits the messages of a server per second, so that it cannot keep the others waiting.

What a server sends beyond that waits in its own output.
"""

from __future__ import annotations

import asyncio

_AT_ONCE = 1_000
_A_SECOND = 500


class Pace:
    """Counts the messages of one session."""

    def __init__(self) -> None:
        self._room = float(_AT_ONCE)
        self._at = 0.0

    async def take(self) -> None:
        """Return when the next message may be looked at."""
        now = asyncio.get_running_loop().time()
        self._room = min(self._room + (now - self._at) * _A_SECOND, _AT_ONCE) - 1
        self._at = now
        if self._room < 0:
            await asyncio.sleep(-self._room / _A_SECOND)

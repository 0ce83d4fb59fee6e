"""Ends calls that wait or run when people freeze their tool.

The state of the emergency stop is a file, so it is polled as long as a call waits or runs: any
process may have frozen the tool.
"""

from __future__ import annotations

import asyncio

from policy.store import Freezer

_POLL = 0.2  # seconds


class _Watched:
    """A call with a time limit that is brought forward once its tool is frozen.

    `running` is ended only by a freeze that cancels running calls. It is in `others` while in use.
    """

    def __init__(
        self,
        limit: asyncio.Timeout,
        names: tuple[str, ...],
        others: set[_Watched],
        *,
        running: bool,
    ) -> None:
        self.limit = limit
        self.names = names
        self.running = running
        self._others = others

    def __enter__(self) -> None:
        self._others.add(self)

    def __exit__(self, *raised: object) -> None:
        self._others.discard(self)


class FrozenCalls:
    """Ends waiting and running calls of one service."""

    def __init__(self, freezer: Freezer, *, poll: float = _POLL) -> None:
        self.freezer = freezer
        self._poll = poll
        self._watched: dict[asyncio.AbstractEventLoop, set[_Watched]] = {}
        self._looking: dict[asyncio.AbstractEventLoop, asyncio.Task[None]] = {}

    def watching(
        self, limit: asyncio.Timeout, names: tuple[str, ...], *, running: bool
    ) -> _Watched:
        """Make `limit` pass at once if a tool of these names is frozen within the block."""
        loop = asyncio.get_running_loop()
        watched = self._watched.setdefault(loop, set())
        if loop not in self._looking:
            self._looking[loop] = loop.create_task(self._look(loop, watched))
        return _Watched(limit, names, watched, running=running)

    async def _look(self, loop: asyncio.AbstractEventLoop, watched: set[_Watched]) -> None:
        """Poll until nothing has been watched for one interval."""
        try:
            while True:
                await asyncio.sleep(self._poll)
                if not watched:
                    return
                freezing = self.freezer.current()
                for one in tuple(watched) if freezing else ():
                    if freezing.on(one.names, cancelling=one.running) is not None:
                        watched.discard(one)
                        one.limit.reschedule(loop.time())
        finally:
            self._looking.pop(loop, None)
            if not watched:
                self._watched.pop(loop, None)

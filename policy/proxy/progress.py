"""Tells a client how far its call has come: that it has not ended, and what the tool reports.

What a client gets must always grow. A call may have waited for an approval before its tool reports
anything, so the tool's reports are counted from there.
"""

from __future__ import annotations

import asyncio

from mcp.server.session import ServerSession

# Clients give up after a minute without a message.
_FIRST = 1.0  # seconds until the first message that a call has not ended
_EVERY = 10.0  # seconds between messages
_NOT_ENDED = "the call has not ended; it may wait for an approval"
# How much a report grows at least.
_LEAST = 1e-6


class ProgressToClient:
    """The reports about one call, in the order in which the client gets them."""

    def __init__(self, session: ServerSession) -> None:
        self._session = session
        self._loop = asyncio.get_running_loop()
        self._began = self._loop.time()
        self._last = 0.0
        self._base: float | None = None
        self._total: float | None = None
        self._heard = self._began

    async def __call__(self, progress: float, total: float | None, message: str | None) -> None:
        """Pass on what the tool reports."""
        if self._base is None:
            self._base = self._last
        self._heard = self._loop.time()
        self._total = None if total is None else self._base + total
        await self._send(self._base + progress, message)

    async def report_waiting(self) -> None:
        """Report repeatedly that the call has not ended, unless the tool does, until cancelled."""
        pause = _FIRST
        while True:
            await asyncio.sleep(pause)
            pause = _EVERY
            if self._base is None:
                await self._send(round(self._loop.time() - self._began, 3), _NOT_ENDED)
            elif self._loop.time() - self._heard >= _EVERY:
                await self._send(self._last, _NOT_ENDED)

    async def _send(self, progress: float, message: str | None) -> None:
        self._last = progress if progress > self._last else self._last + _LEAST
        await self._session.report_progress(self._last, self._total, message)


class ProgressOfCall:
    """Passes reports about a call to the request that the client waits for now, if any.

    A parked call goes on with another request than it began with.
    """

    def __init__(self, progress: ProgressToClient | None) -> None:
        self._to = progress

    def goes_to(self, progress: ProgressToClient | None) -> None:
        """Pass reports on to another request from now on."""
        self._to = progress

    async def __call__(self, progress: float, total: float | None, message: str | None) -> None:
        """Pass a report on."""
        if self._to is not None:
            await self._to(progress, total, message)

"""Sends `tools/list_changed` to every client when the policy changes, once per burst."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, TypeAlias

from mcp.server.context import ServerRequestContext
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ToolsListChanged

_LOG = logging.getLogger(__name__)
_QUIET = 0.05  # seconds to wait for the end of a burst of changes
_SLOWEST = 1.0  # seconds to wait for one client
_MOST_SESSIONS = 1_000

Context: TypeAlias = ServerRequestContext[Any, Any]


class ListChanges:
    """Notifies clients that the list of tools may have changed.

    Clients of the 2026 protocol listen on `bus`; older ones are notified on the connection on which
    they last listed the tools.
    """

    def __init__(self) -> None:
        self.bus = InMemorySubscriptionBus()
        self._changed = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._sessions: OrderedDict[str, ServerSession] = OrderedDict()

    def listed(self, ctx: Context) -> None:
        """Remember a connection on which the tools were listed."""
        request = ctx.request
        key = "" if request is None else str(request.headers.get("mcp-session-id", ""))
        if request is not None and not key:
            return  # a single exchange: no client remains to be notified
        self._sessions[key] = ctx.session
        self._sessions.move_to_end(key)
        while len(self._sessions) > _MOST_SESSIONS:
            self._sessions.popitem(last=False)

    def changed(self) -> None:
        """Report a change; may be called from any thread."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._changed.set)

    @asynccontextmanager
    async def notifying(self) -> AsyncIterator[None]:
        """Notify clients of changes until the block ends."""
        task = asyncio.create_task(self._notify_on_changes())
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _notify_on_changes(self) -> None:
        while True:
            await self._changed.wait()
            await asyncio.sleep(_QUIET)
            self._changed.clear()
            await self.bus.publish(ToolsListChanged())
            for key, session in list(self._sessions.items()):
                await self._notify(key, session)

    async def _notify(self, key: str, session: ServerSession) -> None:
        try:
            async with asyncio.timeout(_SLOWEST):
                await session.send_tool_list_changed()
        except Exception as error:  # noqa: BLE001 - a client that is gone must not keep the others waiting
            _LOG.debug("a client was not notified: %s", type(error).__name__)
            self._sessions.pop(key, None)

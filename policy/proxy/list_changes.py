"""Tells every client that a list may have changed, once per burst."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Literal, TypeAlias, assert_never

from mcp.server.session import ServerSession
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    PromptsListChanged,
    ResourcesListChanged,
    ServerEvent,
    ToolsListChanged,
)

from policy.proxy.context import Context
from policy.proxy.session_ids import session_id_of

_LOG = logging.getLogger(__name__)
_QUIET = 0.05  # seconds to wait for the end of a burst of changes
_SLOWEST = 1.0  # seconds to wait for one client
_MOST_SESSIONS = 1_000

ListKind: TypeAlias = Literal["tools", "resources", "prompts"]
_EVENTS: Mapping[ListKind, ServerEvent] = {
    "tools": ToolsListChanged(),
    "resources": ResourcesListChanged(),
    "prompts": PromptsListChanged(),
}


class ListChanges:
    """Notifies clients that lists may have changed: of `kinds` where none is named.

    Clients of the 2026 protocol listen on `bus`; older ones are notified on the connection on which
    they last asked for a list.
    """

    def __init__(self, kinds: Iterable[ListKind] = ("tools",)) -> None:
        self._kinds = tuple(kinds)
        self._due: set[ListKind] = set()
        self.bus = InMemorySubscriptionBus()
        self._changed = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._sessions: OrderedDict[str, ServerSession] = OrderedDict()

    def listed(self, ctx: Context) -> None:
        """Remember a connection on which a list was asked for."""
        key = "" if ctx.request is None else session_id_of(ctx)
        if key is None:
            return  # a single exchange: no client remains to be notified
        self._sessions[key] = ctx.session
        self._sessions.move_to_end(key)
        while len(self._sessions) > _MOST_SESSIONS:
            self._sessions.popitem(last=False)

    def changed(self, *kinds: ListKind) -> None:
        """Report a change of these lists, else of all; may be called from any thread."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._note, kinds or self._kinds)

    def _note(self, kinds: Iterable[ListKind]) -> None:
        self._due.update(kinds)
        self._changed.set()

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
            due = sorted(self._due)
            self._due.clear()
            for kind in due:
                await self.bus.publish(_EVENTS[kind])
            for key, session in list(self._sessions.items()):
                await self._notify(key, session, due)

    async def _notify(self, key: str, session: ServerSession, kinds: Iterable[ListKind]) -> None:
        try:
            async with asyncio.timeout(_SLOWEST):
                for kind in kinds:
                    await _send(session, kind)
        except Exception as error:  # noqa: BLE001 - a client that is gone must not keep the others waiting
            _LOG.debug("a client was not notified: %s", type(error).__name__)
            self._sessions.pop(key, None)


async def _send(session: ServerSession, kind: ListKind) -> None:
    match kind:
        case "tools":
            await session.send_tool_list_changed()
        case "resources":
            await session.send_resource_list_changed()
        case "prompts":
            await session.send_prompt_list_changed()
        case _:
            assert_never(kind)

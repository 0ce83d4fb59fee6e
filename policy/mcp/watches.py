"""`Watches`: subscriptions to resources of one server, which outlast its sessions."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextvars import Context
from typing import TYPE_CHECKING, TypeAlias

from policy.mcp.errors import McpFailure
from policy.tools import Watch

if TYPE_CHECKING:
    from policy.mcp.connection import Connection

_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 60.0  # seconds before a subscription is made again

# Follows a resource in a session, until that ends or the subscription does.
Follow: TypeAlias = "Callable[[Connection], Awaitable[None]]"
# Runs that in a session that is opened if it has to be; raises McpFailure.
Within: TypeAlias = Callable[[Follow], Awaitable[None]]


class Watches:
    """Keeps subscriptions until whoever watches ends them."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[None]] = set()

    async def begin(self, uri: str, watch: Watch, within: Within) -> None:
        """Report changes of a resource to `watch` from now on.

        Returns when the server has taken the subscription; raises McpFailure if it does not. When
        its session is lost later, it is made again in another one.
        """
        began: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        # It lasts longer than the call that it began with, and is no part of it.
        running = asyncio.create_task(_keep(uri, watch, within, began), context=Context())
        self._running.add(running)
        running.add_done_callback(self._running.discard)

        def end() -> None:
            running.cancel()

        watch.ends_with(end)
        try:
            await asyncio.wait((began, running), return_when=asyncio.FIRST_COMPLETED)
            if not began.done():
                raise McpFailure("the subscription has ended")
            began.result()
        except BaseException:
            running.cancel()
            raise

    async def close(self) -> None:
        """End all; those who watch are told that they have to look again."""
        running = tuple(self._running)
        for each in running:
            each.cancel()
        await asyncio.gather(*running, return_exceptions=True)


async def _keep(uri: str, watch: Watch, within: Within, began: asyncio.Future[None]) -> None:
    pause = _FIRST_PAUSE

    def subscribed() -> None:
        nonlocal pause
        pause = _FIRST_PAUSE
        if began.done():
            watch.changed()  # what the server has announced meanwhile is not known
        else:
            began.set_result(None)

    async def follow(connection: Connection) -> None:
        await connection.subscriptions.follow(uri, watch.changed, subscribed)

    try:
        while True:
            try:
                await within(follow)
            except McpFailure as error:
                if not began.done():
                    began.set_exception(error)
                    return
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)
    finally:
        watch.changed()

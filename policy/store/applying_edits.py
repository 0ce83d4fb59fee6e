"""Does something once, and again after each edit of a policy, until a block ends."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, Protocol

_LOG = logging.getLogger(__name__)


class Edited(Protocol):
    """Reports edits, as a policy store does."""

    def subscribe(self, callback: Callable[[Any], None]) -> Callable[[], None]:
        """Call back after every change, from any thread."""
        ...


@asynccontextmanager
async def applying_edits(
    edits: Edited, apply: Callable[[], Awaitable[None]]
) -> AsyncIterator[None]:
    """Await `apply` before the block begins, and after every edit; never twice at a time.

    What it raises later is logged: the next edit is applied all the same.
    """
    edited = asyncio.Event()
    loop = asyncio.get_running_loop()

    def changed(_outcome: object) -> None:
        loop.call_soon_threadsafe(edited.set)

    async def follow() -> None:
        while True:
            await edited.wait()
            edited.clear()
            try:
                await apply()
            except Exception:  # noqa: BLE001 - later edits are applied whatever this one does
                _LOG.exception("an edit of the configuration could not be applied")

    stop = edits.subscribe(changed)
    try:
        await apply()
        following = asyncio.create_task(follow())
        try:
            yield
        finally:
            following.cancel()
            await asyncio.gather(following, return_exceptions=True)
    finally:
        stop()

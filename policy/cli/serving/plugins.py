"""The plugins that the configuration has Placet run, behind a server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import TypeAlias

from policy.cli.serving.governed_service import GovernedServices
from policy.store import PolicyStore

_PATIENCE = 20.0  # seconds that a client's first list waits for plugins to start

Ready: TypeAlias = Callable[[], Awaitable[None]]


@asynccontextmanager
async def plugins_behind(store: PolicyStore, governed: GovernedServices) -> AsyncIterator[Ready]:
    """Run the configured plugins until the block ends; yields what waits until they have started.

    There may be no policy yet, and an edit may name the first plugin.
    """
    loop = asyncio.get_running_loop()
    wanted, started = asyncio.Event(), asyncio.Event()

    def look(_outcome: object = None) -> None:
        if _has_plugins(store) and not loop.is_closed():
            loop.call_soon_threadsafe(wanted.set)

    async def run() -> None:
        await wanted.wait()
        # Imported for those who have plugins.
        from policy.plugins import configured_plugins

        async with configured_plugins(governed.service, store):
            started.set()
            await asyncio.Event().wait()

    async def ready() -> None:
        if _has_plugins(store):
            with suppress(TimeoutError):
                async with asyncio.timeout(_PATIENCE):
                    await started.wait()

    stop = store.subscribe(look)
    look()
    running = asyncio.create_task(run())
    try:
        yield ready
    finally:
        stop()
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


def _has_plugins(store: PolicyStore) -> bool:
    generation = store.current
    if generation is None:
        return False
    return any(one.path is not None for one in generation.settings.plugins.values())

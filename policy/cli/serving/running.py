"""Serves MCP clients until they leave, or until a signal asks for the end."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from policy.approvals import StoreUnusable
from policy.cli.loading import exit_with
from policy.cli.serving.governed_service import GovernedServices
from policy.cli.serving.messages import say, welcome
from policy.cli.serving.options import ServingOptions
from policy.cli.serving.plugins import plugins_behind
from policy.generation import state_folder
from policy.store import PolicyStore, health_record

if TYPE_CHECKING:
    from policy.proxy import ConnectedClient, ListKind, OfferedBehind, Ready

# The file, among the state of a policy, of the key that seals what clients carry.
_KEY = "parked-calls.key"


@dataclass(frozen=True, slots=True, kw_only=True)
class Behind:
    """What a server has behind it besides its own tools.

    `ready` returns when the tools are there, `left` hears of clients who have ended their session.
    `offered` is what servers offer besides tools; `on_offers` takes what is called with a change
    of that.
    """

    ready: Ready
    left: Callable[[ConnectedClient], None]
    offered: OfferedBehind
    on_offers: Callable[[Callable[[ListKind], None]], None]


Opened: TypeAlias = Callable[
    [PolicyStore, GovernedServices], AbstractAsyncContextManager[Behind | None]
]


_KINDS: tuple[ListKind, ...] = ("tools", "resources", "prompts")


@asynccontextmanager
async def nothing_behind(store: PolicyStore, governed: GovernedServices) -> AsyncIterator[None]:
    """Have nothing behind the server."""
    yield None


def run_server(
    options: ServingOptions, store: PolicyStore, governed: GovernedServices, *, behind: Opened
) -> None:
    """Serve until the client leaves or a signal comes."""

    async def serve() -> None:
        await serve_clients(
            options,
            store,
            governed,
            behind=behind,
            listening=lambda how: say(welcome(how, governed)),
        )

    with suppress(KeyboardInterrupt):
        asyncio.run(_until_signalled(serve, before_end=lambda: governed.approving.leave()))


async def serve_clients(
    options: ServingOptions,
    store: PolicyStore,
    governed: GovernedServices,
    *,
    behind: Opened,
    listening: Callable[[str], None],
) -> None:
    """Serve until the client leaves, or until cancelled; `listening` gets `stdio` or the URL."""
    from policy.proxy import ListChanges, kept_key, serve_http, serve_stdio, tool_server

    try:
        await governed.approving.begin(governed.caller.session)
    except StoreUnusable as error:
        exit_with(str(error))
    changes = ListChanges(("tools",) if behind is nothing_behind else _KINDS)
    where, largest = options.address, governed.clients.message_bytes
    async with (
        store.watch(),
        changes.notifying(),
        plugins_behind(store, governed) as plugins_ready,
        behind(store, governed) as others,
    ):
        ended = store.subscribe(lambda outcome: changes.changed() if outcome.changed else None)
        governed.on_tools(changes.changed)
        if others is not None:
            others.on_offers(changes.changed)

        async def both() -> None:
            await plugins_ready()
            if others is not None:
                await others.ready()

        server = tool_server(
            governed,
            changes,
            ready=both,
            behind=None if others is None else others.offered,
            disregards=governed.disregards,
            key=lambda: kept_key(state_folder(options.path) / _KEY),
        )
        try:
            if where is None:
                listening("stdio")
                await serve_stdio(server, largest=largest)
                return
            await serve_http(
                server,
                where,
                identities=governed.identities,
                listening=listening,
                health=lambda: health_record(store.status, store.freezer.current()),
                left=None if others is None else others.left,
                issuer=lambda: governed.clients.jwt,
                largest=largest,
            )
        except OSError as error:
            if where is None:
                raise
            exit_with(f"{where.shown}:{where.port} cannot be bound: {error.strerror or error}")
        finally:
            ended()


async def _until_signalled(
    serve: Callable[[], Coroutine[Any, Any, None]], *, before_end: Callable[[], None]
) -> None:
    """Serve until that ends by itself or a signal asks for the end.

    A second signal hastens it: open connections get no more time. Running calls are still ended
    and recorded, so the handlers stay.
    """
    loop = asyncio.get_running_loop()
    serving = asyncio.create_task(serve())
    asked = False

    def end() -> None:
        nonlocal asked
        if not asked:
            asked = True
            before_end()
        serving.cancel()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, end)
    await asyncio.wait({serving})
    error = None if serving.cancelled() else serving.exception()
    # Errors of connections that are ended, or whose client is gone, do not matter.
    if error is not None and not asked and not _is_client_gone(error):
        raise error


def _is_client_gone(error: BaseException) -> bool:
    if isinstance(error, BaseExceptionGroup):
        return all(_is_client_gone(inner) for inner in error.exceptions)
    return isinstance(error, BrokenPipeError | ConnectionResetError)

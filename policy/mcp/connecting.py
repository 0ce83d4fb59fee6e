"""`connected`: opens a session with a server, over any transport, and hears what it announces."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, assert_never

from mcp import Client
from mcp.client.session import IncomingMessage, MessageHandlerFnT
from mcp.types import (
    Implementation,
    PromptListChangedNotification,
    ResourceListChangedNotification,
    ResourceUpdatedNotification,
    ToolListChangedNotification,
)

from policy.generation import HttpServer, McpServer, StdioServer, WebSocketServer
from policy.mcp.connection import Connection
from policy.mcp.error_text import text_of
from policy.mcp.http import OAuthTokens, http_streams
from policy.mcp.input_requests import InputRequests
from policy.mcp.offered import Announced, OfferedKind
from policy.mcp.open_calls import OpenCalls
from policy.mcp.raw_answers import RawAnswers
from policy.mcp.server_sandbox import ServerSandbox
from policy.mcp.stdio import stdio_streams
from policy.mcp.websocket import websocket_streams
from policy.processes import Launcher, Lost, Unavailable
from policy.version import VERSION


@asynccontextmanager
async def connected(
    server: McpServer,
    *,
    lost: Lost,
    launcher: Launcher | None = None,
    tokens: OAuthTokens | None = None,
    changed: Callable[[], None] | None = None,
    offers_changed: Announced | None = None,
    listening: bool = True,
    garbage: Callable[[], None] | None = None,
    calls: OpenCalls | None = None,
    sandbox: ServerSandbox | None = None,
) -> AsyncIterator[Connection]:
    """Connect to a server and agree with it on a revision of the protocol.

    `changed` is called when the server announces that its list of tools has changed;
    `offers_changed` is the same for resources and prompts. Without `listening`, no subscription is
    opened to hear of it. `garbage` is called for each line of its output that is no message.
    `calls` are those for which the server may ask its client, `sandbox` is that of the session.
    """
    announced = asyncio.Event()
    connection: Connection | None = None

    def end(why: str) -> None:
        if connection is None:
            lost(why)
        else:
            connection.lost(why)

    def announce() -> None:
        announced.set()
        if changed is not None:
            changed()

    def offers_announced(what: OfferedKind) -> None:
        if connection is not None:
            connection.offers.changed(what)
        if offers_changed is not None:
            offers_changed(what)

    def updated(uri: str) -> None:
        if connection is not None:
            connection.subscriptions.updated(uri)

    inputs = InputRequests(server, calls or OpenCalls()) if server.client_features else None
    raw = RawAnswers()
    streams = _streams(
        server, lost=end, launcher=launcher, tokens=tokens or OAuthTokens(), sandbox=sandbox
    )
    client = Client(
        raw.within(streams),
        mode="auto",
        cache=None,
        message_handler=_hearing(announce, offers_announced, updated, garbage),
        client_info=Implementation(name="placet", version=VERSION),
        **({} if inputs is None else inputs.callbacks()),
    )
    try:
        async with client:
            over_http = isinstance(server.transport, HttpServer)
            connection = Connection(
                client,
                lost,
                raw=raw,
                notes_sending=over_http,
                announced=announced,
                fresh_for=server.check,
                inputs=inputs,
            )
            work: list[Coroutine[Any, Any, None]] = [connection.health.watch(server.check)]
            if changed is not None and listening:
                work.append(connection.listen(announce, offers_announced))
            async with _beside(work):
                yield connection
    except Exception as error:
        why = text_of(error)
        end(why)
        raise Unavailable(why) from error


def _hearing(
    changed: Callable[[], None],
    announced: Announced,
    updated: Callable[[str], None],
    garbage: Callable[[], None] | None,
) -> MessageHandlerFnT:
    """Return what is told of each message that a server sends by itself."""

    async def hear(message: IncomingMessage) -> None:
        match message:
            case ToolListChangedNotification():
                changed()
            case ResourceListChangedNotification():
                announced("resources")
            case PromptListChangedNotification():
                announced("prompts")
            case ResourceUpdatedNotification(params=params):
                updated(params.uri)
            case Exception() if garbage is not None:
                garbage()
            case _:
                pass

    return hear


def _streams(
    server: McpServer,
    *,
    lost: Lost,
    launcher: Launcher | None,
    tokens: OAuthTokens,
    sandbox: ServerSandbox | None,
) -> AbstractAsyncContextManager[Any]:
    transport = server.transport
    match transport:
        case StdioServer():
            return stdio_streams(
                transport, name=server.name, launcher=launcher, lost=lost, sandbox=sandbox
            )
        case HttpServer():
            return http_streams(transport, tokens=tokens)
        case WebSocketServer():
            return websocket_streams(transport, lost=lost)
        case _:
            assert_never(transport)


@asynccontextmanager
async def _beside(work: list[Coroutine[Any, Any, None]]) -> AsyncIterator[None]:
    """Run coroutines until the block ends."""
    tasks = [asyncio.create_task(each) for each in work]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

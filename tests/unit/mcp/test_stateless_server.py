"""`McpClient` and a server of the revision without a handshake, with the SDK's own server."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
import uvicorn
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged
from mcp.types import (
    CallToolRequestParams,
    CallToolResult,
    ElicitRequest,
    ElicitRequestFormParams,
    InputRequiredResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
)

from policy.generation import HttpServer, McpServer
from policy.mcp import McpClient, ProtocolError


class Upstream:
    """A server whose list of tools can grow."""

    def __init__(self) -> None:
        self.names = ["echo", "asks"]
        self.calls: list[tuple[str, Any]] = []
        self.bus = InMemorySubscriptionBus()
        self.server: Server[Any] = Server(
            "upstream",
            version="1.2",
            on_list_tools=self.list,
            on_call_tool=self.call,
            on_subscriptions_listen=ListenHandler(self.bus),
        )

    async def list(
        self, ctx: ServerRequestContext[Any, Any], params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        region = {"type": "string", "x-mcp-header": "Region"}
        schema = {"type": "object", "properties": {"region": region}}
        return ListToolsResult(tools=[Tool(name=n, input_schema=schema) for n in self.names])

    async def call(
        self, ctx: ServerRequestContext[Any, Any], params: CallToolRequestParams
    ) -> CallToolResult | InputRequiredResult:
        self.calls.append((params.name, params.arguments))
        if params.name == "asks":
            form = ElicitRequestFormParams(
                message="Really?", requested_schema={"type": "object", "properties": {}}
            )
            return InputRequiredResult(input_requests={"sure": ElicitRequest(params=form)})
        return CallToolResult(content=[TextContent(text=str(params.arguments))])


class Quiet(uvicorn.Server):
    """A server that leaves signals to the tests."""

    def install_signal_handlers(self) -> None:
        """Install nothing."""


@asynccontextmanager
async def client_of(
    upstream: Upstream, changed: Callable[[], None] | None = None
) -> AsyncIterator[McpClient]:
    bound = socket.create_server(("127.0.0.1", 0))
    port = bound.getsockname()[1]
    app = upstream.server.streamable_http_app()
    config = uvicorn.Config(
        app, log_config=None, lifespan="on", ws="none", timeout_graceful_shutdown=1
    )
    server = Quiet(config)
    serving = asyncio.create_task(server.serve(sockets=[bound]))
    transport = HttpServer(url=f"http://127.0.0.1:{port}/mcp")
    client = McpClient(McpServer(name="up", transport=transport), changed=changed)
    try:
        yield client
    finally:
        await client.close()
        server.should_exit = True
        await serving
        bound.close()


async def test_tools_are_listed_and_called() -> None:
    upstream = Upstream()
    async with client_of(upstream) as client:
        assert [tool.name for tool in await client.list_tools()] == ["echo", "asks"]
        result = await client.call_tool("echo", {"other": 1})
        assert result["content"] == [{"type": "text", "text": "{'other': 1}"}]
        assert client.status.era == "stateless"
        assert client.status.protocol_version == "2026-07-28"
        assert client.server_version == "1.2"
        assert await client.check()


async def test_arguments_that_a_server_wants_as_headers_are_sent_as_such() -> None:
    upstream = Upstream()
    async with client_of(upstream) as client:
        result = await client.call_tool("echo", {"region": "eu"})
        assert result["content"][0]["text"] == "{'region': 'eu'}"
        # The call before the list was refused before it ran.
        assert upstream.calls == [("echo", {"region": "eu"})]


async def test_announced_changes_are_heard() -> None:
    upstream, changed = Upstream(), asyncio.Event()
    async with client_of(upstream, changed.set) as client:
        await client.list_tools()
        waiting = asyncio.create_task(client.changes(changed))
        while not changed.is_set():  # until the server has taken the subscription
            await upstream.bus.publish(ToolsListChanged())
            await asyncio.sleep(0.01)
        upstream.names.append("grown")
        await waiting
        assert len(await client.list_tools()) == 3


async def test_a_server_that_asks_its_user_is_refused() -> None:
    upstream = Upstream()
    async with client_of(upstream) as client:
        with pytest.raises(ProtocolError, match="asks for input from its user"):
            await client.call_tool("asks", {})
        assert len(upstream.calls) == 1

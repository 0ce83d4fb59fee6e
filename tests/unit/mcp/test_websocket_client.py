"""`McpClient` over a WebSocket."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http import HTTPStatus
from pathlib import Path

import pytest
from websockets.asyncio.server import ServerConnection, serve
from websockets.http11 import Request, Response

from policy.generation import McpServer, SecretReference, WebSocketServer
from policy.mcp import McpClient, NotSent, Uncertain
from tests.mcp_servers.over_http import websocket_server
from tests.mcp_servers.scripted import NAMES


@asynccontextmanager
async def client_of(transport: WebSocketServer) -> AsyncIterator[McpClient]:
    client = McpClient(McpServer(name="socket", transport=transport, isolation="shared"))
    try:
        yield client
    finally:
        await client.close()


async def test_tools_are_listed_and_called(tmp_path: Path) -> None:
    async with (
        websocket_server(tmp_path) as (url, _),
        client_of(WebSocketServer(url=url)) as client,
    ):
        assert len(await client.list_tools()) == len(NAMES)
        result = await client.call_tool("echo", {"text": "hi"})
        assert result["content"][0]["text"] == "hi"
        assert await client.check()


async def test_a_token_is_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLACET_TEST_TOKEN", "secret")
    async with websocket_server(tmp_path) as (url, seen):
        token = SecretReference(env="PLACET_TEST_TOKEN")
        async with client_of(WebSocketServer(url=url, token=token)) as client:
            await client.list_tools()
    assert [one["authorization"] for one in seen] == ["Bearer secret"]


async def test_a_call_that_may_have_run_is_not_sent_again(tmp_path: Path) -> None:
    async with (
        websocket_server(tmp_path) as (url, seen),
        client_of(WebSocketServer(url=url)) as client,
    ):
        with pytest.raises(Uncertain, match=r"closed the connection.*1012"):
            await client.call_tool("leaves", {})
        assert (tmp_path / "calls").read_text() == "leaves\n"
        await client.call_tool("echo", {})
        assert len(seen) == 2


async def test_an_address_without_a_server_is_an_error() -> None:
    async with client_of(WebSocketServer(url="ws://127.0.0.1:9/mcp")) as client:
        with pytest.raises(NotSent, match="cannot be started or reached"):
            await client.list_tools()


async def test_no_redirect_is_followed(tmp_path: Path) -> None:
    async with websocket_server(tmp_path) as (elsewhere, seen):

        def redirect(socket: ServerConnection, request: Request) -> Response:
            response = socket.respond(HTTPStatus.TEMPORARY_REDIRECT, "")
            response.headers["Location"] = elsewhere
            return response

        async def nobody(socket: ServerConnection) -> None:
            raise AssertionError

        async with serve(nobody, "127.0.0.1", 0, process_request=redirect) as server:
            (socket,) = server.sockets
            url = f"ws://127.0.0.1:{socket.getsockname()[1]}/mcp"
            async with client_of(WebSocketServer(url=url)) as client:
                with pytest.raises(NotSent, match="HTTP 307"):
                    await client.list_tools()
        assert seen == []

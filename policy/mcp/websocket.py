"""MCP over a WebSocket, one message a frame; the SDK has no such transport."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from policy.generation import WebSocketServer
from policy.mcp.secrets import read_value, read_values
from policy.mcp.streams import LARGEST, Streams, message_streams
from policy.processes import Lost

_CLOSING = 2.0  # seconds


class _Here(connect):
    """Connects to this address only: a redirect would carry secrets to another one."""

    def process_redirect(self, exc: Exception) -> Exception | str:
        """Follow no redirect."""
        return exc


@asynccontextmanager
async def websocket_streams(server: WebSocketServer, *, lost: Lost) -> AsyncIterator[Streams]:
    """Connect to the server."""
    headers = read_values(server.headers)
    if server.token is not None:
        headers["Authorization"] = f"Bearer {read_value(server.token)}"
    async with _Here(
        server.url,
        subprotocols=[Subprotocol("mcp")],
        additional_headers=headers,
        max_size=LARGEST,
        compression=None,
        close_timeout=_CLOSING,
    ) as socket:

        async def ended() -> str:
            return f"the server has closed the connection (code {socket.close_code})"

        async with message_streams(_frames(socket), socket.send, lost=lost, ended=ended) as streams:
            yield streams


async def _frames(socket: Any) -> AsyncIterator[str | bytes]:
    try:
        while True:
            yield await socket.recv()
    except ConnectionClosed:
        return

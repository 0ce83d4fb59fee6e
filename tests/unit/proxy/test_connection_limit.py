"""Connections without a token: how long they may stay, how many, and which are closed."""

from __future__ import annotations

import asyncio
from urllib.parse import urlsplit

import pytest
from starlette.types import Receive, Scope, Send

from policy.proxy import OneToken
from policy.proxy.request_ids import UniqueIds
from tests.plain_http import plain_client
from tests.unit.proxy.listening import listening
from tests.waiting import skip_time

TOKEN = "correct-horse-battery"
HEADERS = {
    "Authorization": f"Bearer {TOKEN}",
    "Accept": "application/json, text/event-stream",
    "Mcp-Protocol-Version": "2025-06-18",
}
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
PATIENCE = 30.0


async def connect(url: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    where = urlsplit(url)
    return await asyncio.open_connection(where.hostname, where.port)


async def is_served(url: str) -> bool:
    async with plain_client(headers=HEADERS, timeout=PATIENCE) as client:
        return (await client.post(url, json=PING)).status_code not in (401, 503)


async def test_whoever_shows_no_token_in_time_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("policy.proxy.http._UNKNOWN_SECONDS", 0.1)
    async with listening(OneToken(token=TOKEN), patience=PATIENCE) as url:
        silent, writer = await connect(url)
        assert await silent.read() == b""
        writer.close()
        slow, writer = await connect(url)
        writer.write(b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n")
        assert await slow.read() == b""
        writer.close()


async def test_a_refusal_gives_no_more_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("policy.proxy.http._UNKNOWN_SECONDS", 20.0)
    async with listening(OneToken(token=TOKEN), patience=PATIENCE) as url:
        reader, writer = await connect(url)
        writer.write(b"GET /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert (await reader.readline()).startswith(b"HTTP/1.1 401")
        skip_time(21)
        await reader.read()
        writer.close()


async def test_idle_connections_keep_nobody_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("policy.proxy.http._MOST_UNKNOWN", 5)
    async with listening(OneToken(token=TOKEN), patience=PATIENCE) as url:
        idle = [await connect(url) for _ in range(20)]
        assert await is_served(url)
        # Those that waited longest were closed to make room.
        for reader, _ in idle[:14]:
            assert await reader.read() == b""
        for _, writer in idle:
            writer.close()


async def test_a_request_that_was_let_in_may_take_its_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("policy.proxy.http._UNKNOWN_SECONDS", 20.0)
    begun, go = asyncio.Event(), asyncio.Event()

    async def slow(self: UniqueIds, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            begun.set()
            await go.wait()
        await original(self, scope, receive, send)

    original = UniqueIds.__call__
    monkeypatch.setattr(UniqueIds, "__call__", slow)
    async with listening(OneToken(token=TOKEN), patience=PATIENCE) as url:
        asking = asyncio.create_task(is_served(url))
        await begun.wait()
        # Longer than a connection without a request may stay: that one is closed, this is not.
        silent, writer = await connect(url)
        closed = asyncio.create_task(silent.read())
        await asyncio.sleep(0.01)
        skip_time(21)
        assert await closed == b""
        writer.close()
        go.set()
        assert await asking


async def test_idle_connections_with_the_token_are_not_closed_for_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("policy.proxy.http._MOST_UNKNOWN", 3)
    async with listening(OneToken(token=TOKEN), patience=PATIENCE) as url:
        clients = [plain_client(headers=HEADERS, timeout=PATIENCE) for _ in range(10)]
        for _ in range(2):
            for client in clients:
                assert (await client.post(url, json=PING)).status_code not in (401, 503)
        for client in clients:
            await client.aclose()

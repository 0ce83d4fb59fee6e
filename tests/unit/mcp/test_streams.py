"""The two ends of a connection: whoever notices first that it is gone says why it has ended."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import anyio
import pytest
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCNotification

from policy.mcp.streams import message_streams


@pytest.mark.parametrize("broken", [ConnectionResetError("Connection lost"), BrokenPipeError()])
def test_a_write_that_finds_the_server_gone_says_how_it_has_ended(broken: OSError) -> None:
    assert asyncio.run(_words_after_a_write_that(broken)) == ["the server has ended"]


async def _words_after_a_write_that(fails: OSError) -> list[str]:
    async def silent() -> AsyncIterator[bytes]:
        await anyio.sleep_forever()
        yield b""

    async def send(text: str) -> None:
        raise fails

    async def ended() -> str:
        return "the server has ended"

    said: list[str] = []
    message = SessionMessage(JSONRPCNotification(jsonrpc="2.0", method="notifications/cancelled"))
    async with message_streams(silent(), send, lost=said.append, ended=ended) as (receive, sender):
        await sender.send(message)
        with pytest.raises(anyio.EndOfStream):
            await receive.receive()
    return said

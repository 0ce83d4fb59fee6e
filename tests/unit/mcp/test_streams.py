"""The two ends of a connection: whoever notices first that it is gone says why it has ended."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import anyio
import pytest
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCError, JSONRPCNotification, JSONRPCResponse

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


@pytest.mark.parametrize(
    "number",
    [
        "9" * 5_000,
        "-" + "9" * 5_000,
        "1e999",
        "-1E+0999",
        "[2, 1.5e400]",
        "9" * 400 + ".0",
        "NaN",
        "-Infinity",
    ],
)
def test_an_answer_with_a_number_that_is_too_large_is_an_error(number: str) -> None:
    (answer,) = asyncio.run(_answers(f'{{"jsonrpc":"2.0","id":7,"result":{{"a":{number}}}}}'))
    assert isinstance(answer, JSONRPCError)
    assert answer.id == 7
    assert "a number that is too large" in answer.error.message


@pytest.mark.parametrize(
    "number", ["1e308", "1e-999", "9" * 300, '"1e999"', '"NaN"', "0." + "1" * 300]
)
def test_an_answer_with_a_large_number_is_read(number: str) -> None:
    (answer,) = asyncio.run(_answers(f'{{"jsonrpc":"2.0","id":7,"result":{{"a":{number}}}}}'))
    assert isinstance(answer, JSONRPCResponse)


async def _answers(*texts: str) -> list[object]:
    async def sent() -> AsyncIterator[str]:
        for text in texts:
            yield text

    async def send(text: str) -> None:
        raise AssertionError(text)

    async def ended() -> str:
        return "the server has ended"

    answers: list[object] = []
    said: list[str] = []
    async with message_streams(sent(), send, lost=said.append, ended=ended) as (receive, _):
        async for item in receive:
            assert isinstance(item, SessionMessage)
            answers.append(item.message)
    return answers

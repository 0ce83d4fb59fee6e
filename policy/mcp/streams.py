"""The two ends of a connection as the SDK's client reads and writes it, fed by our own transports.

A transport gives text and gets text, one message each. What is no message is counted, and too much
of it ends the connection: a server that writes something else would never answer. An answer that
cannot be read is an error for whoever waits for it.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from math import isfinite
from typing import TypeAlias

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp.types import (
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    jsonrpc_message_adapter,
)

from policy.mcp.error_text import text_of
from policy.processes import Lost

# The size of one message in bytes, as much as a list of tools may have.
LARGEST = 16 * 1024 * 1024
_MOST_GARBAGE = 1_000  # lines in a row
_UNREADABLE = (
    "the server's answer cannot be read: it is not valid JSON in UTF-8, has a number that is too "
    "large, or has no result"
)
# What a number beyond all doubles has: an exponent of three digits, or many digits; or its name.
_LARGE_NUMBER = re.compile(r"[0-9][eE]\+?[0-9]{3}|(?<![0-9])[0-9]{200}|NaN|Infinity")
_MOST_DIGITS = 4_000  # of an integer; Python reads 4,300
_TOO_DEEP = "recursion limit exceeded"  # as pydantic says it

Streams: TypeAlias = tuple[
    MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage]
]
Receive: TypeAlias = AsyncIterator[str | bytes]
Send: TypeAlias = Callable[[str], Awaitable[object]]
Ended: TypeAlias = Callable[[], Awaitable[str]]


class TooLarge(Exception):
    """A message is longer than any that is accepted."""

    def __init__(self) -> None:
        super().__init__(f"the server has sent a message of more than {LARGEST:,} bytes")


@asynccontextmanager
async def message_streams(
    receive: Receive, send: Send, *, lost: Lost, ended: Ended
) -> AsyncIterator[Streams]:
    """Connect a transport to the SDK's client; `ended` says why a transport has come to its end."""
    to_client, from_server = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    to_server, from_client = anyio.create_memory_object_stream[SessionMessage](0)

    async def read() -> None:
        async with to_client:
            try:
                await _deliver(receive, to_client)
                lost(await ended())
            except anyio.BrokenResourceError:
                return  # the client has left
            except Exception as error:  # noqa: BLE001 - whatever ends a transport
                lost(str(error) if isinstance(error, TooLarge | TooDeep) else text_of(error))

    async def write() -> None:
        async with from_client:
            try:
                async for message in from_client:
                    text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                    await send(text)
            except ConnectionError:  # found here before the reader comes to the end
                lost(await ended())
                to_client.close()
            except Exception as error:  # noqa: BLE001 - whatever ends a transport
                lost(text_of(error))
                # No answer can come: those who wait for one are told so.
                to_client.close()

    async with anyio.create_task_group() as tasks, from_server, to_server:
        tasks.start_soon(read)
        tasks.start_soon(write)
        yield from_server, to_server
        tasks.cancel_scope.cancel()


async def _deliver(
    receive: Receive, to_client: MemoryObjectSendStream[SessionMessage | Exception]
) -> None:
    garbage = 0
    async for text in receive:
        if not text.strip():
            garbage += 1
            if garbage >= _MOST_GARBAGE:
                raise NotMcp(garbage)
            continue
        try:
            _check_numbers(text)
            message = jsonrpc_message_adapter.validate_json(text, by_name=False)
        except ValueError as error:
            if text.lstrip()[:1] in ("{", b"{") and _TOO_DEEP in str(error):
                await to_client.send(SessionMessage(_deep_answer(text)))
                continue
            garbage += 1
            if garbage >= _MOST_GARBAGE:
                raise NotMcp(garbage) from error
            failure = _failure_instead(text)
            await to_client.send(error if failure is None else SessionMessage(failure))
        else:
            garbage = 0
            await to_client.send(SessionMessage(message))


def _deep_answer(text: str | bytes) -> JSONRPCMessage:
    """Return an answer that the SDK would not read; raise TooDeep for what is none.

    One tool in a list may be nested too deeply, and the others not. A message that cannot be read
    at all may be the answer that is waited for.
    """
    try:
        found = json.loads(text)
        if isinstance(found, dict) and "result" in found and "method" not in found:
            return jsonrpc_message_adapter.validate_python(found, by_name=False)
    except (ValueError, RecursionError) as error:
        raise TooDeep from error
    raise TooDeep


def _failure_instead(text: str | bytes) -> JSONRPCError | None:
    """Return an error for the request that an unreadable answer is for; None if it is none.

    The answer may have half a surrogate pair, as programs in JavaScript write when they cut a text,
    bytes that are not UTF-8, or a result that is no object.
    """
    try:
        found = json.loads(_decoded(text), parse_int=_short)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or "method" in found or not {"result", "error"} & found.keys():
        return None
    id = found.get("id")
    if isinstance(id, bool) or not isinstance(id, int | str):
        return None
    failure = ErrorData(code=PARSE_ERROR, message=_UNREADABLE)
    return JSONRPCError(jsonrpc="2.0", id=id, error=failure)


def _check_numbers(text: str | bytes) -> None:
    """Raise ValueError for a number that would become infinite, and then null for the client."""
    decoded = _decoded(text)
    if _LARGE_NUMBER.search(decoded) is not None:
        try:
            json.loads(
                decoded, parse_float=_finite, parse_int=_finite_digits, parse_constant=_finite
            )
        except RecursionError:
            return  # refused, or read, as deep messages are


def _decoded(text: str | bytes) -> str:
    return text.decode("utf-8", "replace") if isinstance(text, bytes) else text


def _finite(digits: str) -> float:
    number = float(digits)
    if not isfinite(number):
        raise ValueError("a number that is too large")
    return number


def _finite_digits(digits: str) -> None:
    if len(digits) > _MOST_DIGITS:
        raise ValueError("an integer of too many digits")


def _short(digits: str) -> int | None:
    """Return an integer as an id may be; None for one of more digits than can be read."""
    return int(digits) if len(digits) <= _MOST_DIGITS else None


class TooDeep(Exception):
    """A message is nested deeper than any that is read."""

    def __init__(self) -> None:
        super().__init__("the server has sent a message that is nested too deeply")


class NotMcp(Exception):
    """A server sends something else than messages."""

    def __init__(self, lines: int) -> None:
        super().__init__(f"the server has sent {lines:,} lines in a row that are no MCP messages")

"""Serves one MCP client on standard input and output, until it leaves."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, redirect_stdout, suppress
from typing import Self, TypeAlias, cast

import anyio
from mcp.server.stdio import stdio_server
from mcp.shared._stream_protocols import ReadStream, WriteStream
from mcp.shared.message import SessionMessage

from policy.generation import ClientSettings
from policy.proxy.server import ToolServer
from policy.proxy.unreadable import NOT_UTF8, TOO_LONG, TOO_MANY_VALUES, reply_to, stand_in
from policy.values import has_too_many_values, most_values

_Messages: TypeAlias = ReadStream[SessionMessage | Exception]
_Replies: TypeAlias = WriteStream[SessionMessage]

_CHUNK = 65_536
_READ_AHEAD = 16  # messages
_KEPT = 1_000  # bytes of the beginning and the end of a longer line


async def serve_stdio(server: ToolServer, *, largest: int = ClientSettings().message_bytes) -> None:
    """Serve the client on the process's standard streams until the end of input.

    A message has at most `largest` bytes.
    """
    lines = cast("anyio.AsyncFile[str]", _Lines(_claimed_input(), largest))
    async with stdio_server(stdin=lines) as (messages, replies), _prints_apart():
        answering = _Answering(messages, replies)
        await server.run(answering, replies, server.create_initialization_options())


@asynccontextmanager
async def _prints_apart() -> AsyncIterator[None]:
    """Show on standard error what tools print; the SDK has kept the client's pipe for itself."""
    before = sys.stdout
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        # What is still held back must not reach the client when the SDK gives the pipe back.
        before.flush()


def _claimed_input() -> int:
    """Keep the client's pipe for this process: programs that a tool starts read empty input."""
    own = os.dup(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return own


class _Answering:
    """The client's messages; an invalid one is answered here, so that no client waits for it."""

    def __init__(self, inner: _Messages, replies: _Replies) -> None:
        self._inner = inner
        self._replies = replies

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        async for item in self._inner:
            if not isinstance(item, Exception):
                return item
            await self._replies.send(SessionMessage(reply_to(item)))
        raise StopAsyncIteration

    async def receive(self) -> SessionMessage | Exception:
        """Return the next message."""
        try:
            return await anext(self)
        except StopAsyncIteration:
            raise anyio.EndOfStream from None

    async def aclose(self) -> None:
        """Stop reading."""
        await self._inner.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


class _Lines:
    """The lines of a descriptor, read in a thread that delays neither signals nor exit."""

    def __init__(self, descriptor: int, largest: int) -> None:
        self._descriptor = descriptor
        self._largest = largest
        self._loop = asyncio.get_running_loop()
        self._queue: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._room = threading.Semaphore(_READ_AHEAD)
        threading.Thread(target=self._read, name="mcp-input", daemon=True).start()

    async def __aiter__(self) -> AsyncIterator[str]:
        while (line := await self._queue.get()) is not None:
            self._room.release()
            try:
                text = line.decode("utf-8")
            except UnicodeDecodeError:
                text = stand_in(line, why=NOT_UTF8)
            if text.strip():
                yield text

    def _read(self) -> None:
        line = _Line(self._largest)
        while chunk := self._chunk():
            *ended, rest = chunk.split(b"\n")
            for part in ended:
                line.add(part)
                self._put(line.taken())
            line.add(rest)
        if line.has_begun:
            self._put(line.taken())
        self._put(None)

    def _chunk(self) -> bytes:
        try:
            return os.read(self._descriptor, _CHUNK)
        except OSError:
            return b""

    def _put(self, line: bytes | None) -> None:
        self._room.acquire()
        with suppress(RuntimeError):  # the loop has ended, so nothing reads the queue
            self._loop.call_soon_threadsafe(self._queue.put_nowait, line)


class _Line:
    """A line that arrives in parts; of one that is too long, only both ends are kept."""

    def __init__(self, largest: int) -> None:
        self._largest = largest
        self._bytes = bytearray()
        self._is_long = False

    @property
    def has_begun(self) -> bool:
        """Whether any part has arrived."""
        return bool(self._bytes)

    def add(self, part: bytes) -> None:
        """Take the next part."""
        self._bytes += part
        if self._is_long or len(self._bytes) > self._largest:
            self._is_long = True
            del self._bytes[_KEPT:-_KEPT]

    def taken(self) -> bytes:
        """Return the line, or what stands in for it, and begin the next."""
        whole, was_long = bytes(self._bytes), self._is_long
        self._bytes, self._is_long = bytearray(), False
        if was_long:
            return stand_in(whole, why=TOO_LONG).encode()
        # Counted in the thread that reads, so that no call waits for it.
        if has_too_many_values(whole, most_values(self._largest)):
            return stand_in(whole, why=TOO_MANY_VALUES).encode()
        return whole

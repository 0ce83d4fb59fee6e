"""Standard input in, standard output out: one MCP client on a pipe, until it leaves."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import cast

import anyio
from mcp.server.stdio import stdio_server

from policy.proxy.server import ToolServer

_CHUNK = 65_536
_READ_AHEAD = 16  # messages
_LONGEST_LINE = 64_000_000  # bytes; a longer message is dropped, as no tool would take it


async def serve_stdio(server: ToolServer) -> None:
    """Serve the client on the process's standard streams until its end of input."""
    lines = cast("anyio.AsyncFile[str]", _Lines(_claimed_input()))
    async with stdio_server(stdin=lines) as (messages, replies):
        await server.run(messages, replies, server.create_initialization_options())


def _claimed_input() -> int:
    """Keep the client's pipe for ourselves: what a tool starts reads an empty input instead."""
    own = os.dup(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return own


class _Lines:
    """The lines of a descriptor, read in a thread that neither a signal nor the exit waits for."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._loop = asyncio.get_running_loop()
        self._queue: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._room = threading.Semaphore(_READ_AHEAD)
        threading.Thread(target=self._read, name="mcp-input", daemon=True).start()

    async def __aiter__(self) -> AsyncIterator[str]:
        while (line := await self._queue.get()) is not None:
            self._room.release()
            yield line.decode("utf-8", "replace")

    def _read(self) -> None:
        begun = bytearray()
        dropping = False
        while chunk := self._chunk():
            *ended, rest = chunk.split(b"\n")
            for line in ended:
                if not dropping and len(begun) + len(line) <= _LONGEST_LINE:
                    self._give(bytes(begun) + line)
                begun.clear()
                dropping = False
            dropping = dropping or len(begun) + len(rest) > _LONGEST_LINE
            begun = bytearray() if dropping else begun + rest
        if begun:
            self._give(bytes(begun))
        self._give(None)

    def _chunk(self) -> bytes:
        try:
            return os.read(self._descriptor, _CHUNK)
        except OSError:
            return b""

    def _give(self, line: bytes | None) -> None:
        self._room.acquire()
        with suppress(RuntimeError):  # the loop has ended: nobody reads any more
            self._loop.call_soon_threadsafe(self._queue.put_nowait, line)

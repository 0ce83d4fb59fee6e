"""What is kept of a stream that a program writes: its beginning, or its end."""

from __future__ import annotations

import asyncio
import os
from typing import Literal, Self

_CHUNK = 65_536


class KeptOutput:
    """A pipe for a program to write to, and at most `most` bytes of what it has written.

    The rest is read too, so that the program can go on, and dropped. The pipe is made here:
    asyncio's would wait for every process that still holds it.
    """

    def __init__(self, most: int, *, of: Literal["beginning", "end"] = "beginning") -> None:
        self._most = most
        self._of = of
        self._content = bytearray()
        self._stream = asyncio.StreamReader()
        self._transport: asyncio.ReadTransport | None = None
        self.write_end = -1
        self.cut = False

    async def __aenter__(self) -> Self:
        read_end, self.write_end = os.pipe()
        self._transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(self._stream), os.fdopen(read_end, "rb")
        )
        return self

    async def __aexit__(self, *ignored: object) -> None:
        self.let_go()
        if self._transport is not None:
            self._transport.close()

    def let_go(self) -> None:
        """Close this process's end for writing, so that the stream ends with its last writer."""
        if self.write_end >= 0:
            os.close(self.write_end)
            self.write_end = -1

    async def drain(self) -> None:
        """Read to the end."""
        while chunk := await self._stream.read(_CHUNK):
            if self._of == "beginning":
                room = self._most - len(self._content)
                self._content += chunk[:room]
                self.cut = self.cut or len(chunk) > room
            else:
                self._content += chunk
                surplus = len(self._content) - self._most
                self.cut = self.cut or surplus > 0
                del self._content[: max(0, surplus)]

    def text(self) -> str:
        """Return the kept bytes as text."""
        return self._content.decode("utf-8", "replace")

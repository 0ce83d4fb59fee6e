"""The lines that a program writes, each within a bound."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

_CHUNK = 65_536


class LineTooLong(Exception):
    """A program has written a line of more bytes than are accepted."""


async def lines(stream: asyncio.StreamReader, *, longest: int) -> AsyncIterator[bytes]:
    """Yield lines without their ends; raise LineTooLong for one of more than `longest` bytes."""
    partial = bytearray()
    while chunk := await stream.read(_CHUNK):
        *ended, rest = chunk.split(b"\n")
        for line in ended:
            partial += line
            _require_short(partial, longest)
            yield bytes(partial)
            partial.clear()
        partial += rest
        _require_short(partial, longest)
    if partial:
        yield bytes(partial)


def _require_short(line: bytearray, longest: int) -> None:
    if len(line) > longest:
        raise LineTooLong

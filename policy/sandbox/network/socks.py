"""SOCKS 5 (RFC 1928), as far as a proxy without a login needs it: to connect to a host."""

from __future__ import annotations

import asyncio
from ipaddress import ip_address
from typing import Final

VERSION: Final = 5
_CONNECT = 1
_NO_LOGIN, _NO_METHOD = 0, 0xFF
# The types of addresses, with the number of their bytes.
_ADDRESSES = {1: 4, 4: 16}
_NAME = 3
# The answers of the server.
DONE: Final = 0
REFUSED: Final = 2
UNREACHABLE: Final = 4
_NO_COMMAND, _NO_ADDRESS = 7, 8


class BadSocks(Exception):
    """A client says something that no SOCKS client says; `answer` is what it is told."""

    def __init__(self, answer: bytes) -> None:
        super().__init__("not a request of SOCKS 5")
        self.answer = answer


def reply(code: int) -> bytes:
    """Return the answer to a request."""
    return bytes((VERSION, code, 0, 1, 0, 0, 0, 0, 0, 0))


async def read_request(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> tuple[str, int]:
    """Read what a client wants to connect to, after the first byte; raise BadSocks."""
    methods = await reader.readexactly((await reader.readexactly(1))[0])
    if _NO_LOGIN not in methods:
        raise BadSocks(bytes((VERSION, _NO_METHOD)))
    writer.write(bytes((VERSION, _NO_LOGIN)))
    await writer.drain()
    version, command, _, kind = await reader.readexactly(4)
    if version != VERSION or command != _CONNECT:
        raise BadSocks(reply(_NO_COMMAND))
    host = await _host(reader, kind)
    port = int.from_bytes(await reader.readexactly(2), "big")
    return host, port


async def _host(reader: asyncio.StreamReader, kind: int) -> str:
    if kind in _ADDRESSES:
        return str(ip_address(await reader.readexactly(_ADDRESSES[kind])))
    if kind == _NAME:
        name = await reader.readexactly((await reader.readexactly(1))[0])
        # What is not ASCII is no name of a host; reading it as one is refused later.
        return name.decode("latin-1")
    raise BadSocks(reply(_NO_ADDRESS))

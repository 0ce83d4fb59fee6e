"""The server that a TLS client names in its first message, before anything is encrypted (RFC 8446).

Only the one form that clients send is read; whatever differs from it is no TLS here. (The `ssl`
module reads such a message, too, but writes a traceback for a name that is not ASCII.)
"""

from __future__ import annotations

from typing import Final

# The record and the message that a client begins with.
HANDSHAKE: Final = 22
_CLIENT_HELLO = 1
_SERVER_NAME = 0
_RANDOM = 34  # bytes, with the version before them
# With keys for quantum computers it has some two thousand bytes.
_LONGEST = 65_536
# An alert that ends the handshake: unrecognized_name.
NO_SUCH_NAME: Final = bytes((21, 3, 3, 0, 2, 2, 112))


class NotTls(Exception):
    """What a client sends is no TLS, or none that can be read."""


def server_name(sent: bytes) -> str | None:
    """Return the server that a client names in its whole message, None for none; raise NotTls."""
    message = _message(sent)
    if message is None:
        raise NotTls
    hello = _Bytes(message)
    hello.take(_RANDOM)
    for size in (1, 2, 1):  # session, ciphers, compression
        hello.vector(size)
    if hello.is_done:
        return None
    extensions = _Bytes(hello.vector(2))
    found: list[bytes] = []
    while not extensions.is_done:
        kind = extensions.number(2)
        data = extensions.vector(2)
        if kind == _SERVER_NAME:
            found.append(data)
    hello.end()
    if len(found) > 1:
        raise NotTls
    return _only_name(found[0]) if found else None


def is_whole(sent: bytes) -> bool:
    """Return whether the first message of a client has arrived; raise NotTls for another one."""
    return _message(sent) is not None


def _only_name(data: bytes) -> str:
    outer = _Bytes(data)
    names = _Bytes(outer.vector(2))
    outer.end()
    if names.number(1) != 0:  # a host name
        raise NotTls
    name = names.vector(2)
    names.end()
    if not name or not name.isascii():
        raise NotTls
    return name.decode()


def _message(sent: bytes) -> bytes | None:
    """Return the first message, which may be spread over several records; None if not whole."""
    message, place = bytearray(), 0
    while len(message) < 4 or len(message) < 4 + int.from_bytes(message[1:4], "big"):
        head = sent[place : place + 5]
        size = int.from_bytes(head[3:5], "big")
        wrong = head[:1] != bytes((HANDSHAKE,)) or head[1:2] not in (b"", b"\x03")
        if (head and wrong) or (len(head) == 5 and size == 0) or len(sent) > _LONGEST:
            raise NotTls
        if len(head) < 5 or len(sent) < place + 5 + size:
            return None
        message += sent[place + 5 : place + 5 + size]
        place += 5 + size
        if message[0] != _CLIENT_HELLO:
            raise NotTls
    return bytes(message[4 : 4 + int.from_bytes(message[1:4], "big")])


class _Bytes:
    """Bytes that are read in order."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._place = 0

    @property
    def is_done(self) -> bool:
        return self._place == len(self._data)

    def take(self, size: int) -> bytes:
        if self._place + size > len(self._data):
            raise NotTls
        self._place += size
        return self._data[self._place - size : self._place]

    def number(self, size: int) -> int:
        return int.from_bytes(self.take(size), "big")

    def vector(self, size: int) -> bytes:
        """Return bytes that come after their number, which has `size` bytes."""
        return self.take(self.number(size))

    def end(self) -> None:
        if not self.is_done:
            raise NotTls

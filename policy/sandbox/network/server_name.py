"""The server that a TLS client names in its hello, before anything is encrypted (RFC 8446).

Only the one form that clients send is read; whatever differs from it is no TLS here. (The `ssl`
module reads such a message, too, but writes a traceback for a name that is not ASCII.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

# The record and the message that a client begins with.
HANDSHAKE: Final = 22
_CLIENT_HELLO, _SERVER_HELLO = 1, 2
# What may stand before the second hello of a client: a dummy record, and data that came too early.
_BEFORE_SECOND = (20, 23)
_SERVER_NAME, _ENCRYPTED_HELLO = 0, 0xFE0D
_RANDOM = 34  # bytes, with the version before them
# By this random value, a server asks for another hello.
_AGAIN = bytes.fromhex("cf21ad74e59a6111be1d8c021e65b891c2a211167abb8c5e079e09e2c8a8339c")
# With keys for quantum computers it has some two thousand bytes.
_LONGEST = 65_536
# An alert that ends the handshake: unrecognized_name.
NO_SUCH_NAME: Final = bytes((21, 3, 3, 0, 2, 2, 112))


class NotTls(Exception):
    """What a client sends is no TLS, or none that can be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientHello:
    """What a client says first: in `size` bytes, for a server of this name, None for none.

    With `is_outer`, it may have encrypted the hello that counts (ECH).
    """

    size: int
    name: str | None
    is_outer: bool = False


def client_hello(sent: bytes, *, second: bool = False) -> ClientHello | None:
    """Return the hello that a client has sent, None if it is not whole; raise NotTls.

    What comes after it, it has sent without waiting for the server. A server may ask for a `second`
    one, before which other records are allowed.
    """
    found = _message(sent, _CLIENT_HELLO, skipped=_BEFORE_SECOND if second else ())
    if found is None:
        return None
    message, size = found
    hello = _Bytes(message)
    hello.take(_RANDOM)
    for length in (1, 2, 1):  # session, ciphers, compression
        hello.vector(length)
    if hello.is_done:
        return ClientHello(size=size, name=None)
    extensions = _Bytes(hello.vector(2))
    names: list[bytes] = []
    is_outer = False
    while not extensions.is_done:
        kind = extensions.number(2)
        data = extensions.vector(2)
        is_outer |= kind == _ENCRYPTED_HELLO
        if kind == _SERVER_NAME:
            names.append(data)
    hello.end()
    if len(names) > 1:
        raise NotTls
    return ClientHello(size=size, name=_only_name(names[0]) if names else None, is_outer=is_outer)


def asks_again(answer: bytes) -> bool | None:
    """Return whether a server asks for another hello; None if its answer is not whole."""
    try:
        found = _message(answer, _SERVER_HELLO, alone=False)
    except NotTls:
        return False
    return None if found is None else found[0][2:_RANDOM] == _AGAIN


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


def _message(
    sent: bytes, kind: int, *, skipped: tuple[int, ...] = (), alone: bool = True
) -> tuple[bytes, int] | None:
    """Return the first message, and how many bytes its records have; None if it is not whole.

    It may be spread over several records, and is `alone` in them: a server could read what comes
    after it as a further message.
    """
    message, place = bytearray(), 0
    while len(message) < 4 or len(message) < 4 + int.from_bytes(message[1:4], "big"):
        head = sent[place : place + 5]
        size = int.from_bytes(head[3:5], "big")
        is_skipped = bool(head) and head[0] in skipped and not message
        wrong = head[:1] != bytes((HANDSHAKE,)) and not is_skipped
        wrong = wrong or head[1:2] not in (b"", b"\x03")
        if (head and wrong) or (len(head) == 5 and size == 0) or len(sent) > _LONGEST:
            raise NotTls
        if len(head) < 5 or len(sent) < place + 5 + size:
            return None
        if not is_skipped:
            message += sent[place + 5 : place + 5 + size]
        place += 5 + size
        if message and message[0] != kind:
            raise NotTls
    length = 4 + int.from_bytes(message[1:4], "big")
    if alone and len(message) != length:
        raise NotTls
    return bytes(message[4:length]), place


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

"""Limits connections that have not yet authenticated: how many, and for how long.

A connection costs a descriptor from the moment it is made, long before a request on it shows a
token. So whoever shows none in time is closed, and where many wait, the one that waited longest is.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any, TypeAlias

from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.auto import AutoHTTPProtocol

_Peer: TypeAlias = tuple[str, int]


@dataclass(slots=True, kw_only=True)
class _Connection:
    """One connection; `requests` counts those that were let in and have no answer yet."""

    transport: asyncio.Transport
    timer: asyncio.TimerHandle | None = None
    requests: int = 0


class ConnectionLimit:
    """The connections of a server, by the address and port of whoever made them.

    One that is not let in has `seconds` until it is closed, and so it has again after each answer;
    no more than `most` wait at once.
    """

    def __init__(self, *, seconds: float, most: int) -> None:
        self._seconds = seconds
        self._most = most
        self._open: dict[_Peer, _Connection] = {}
        self._waiting: OrderedDict[_Peer, None] = OrderedDict()

    def opened(self, peer: _Peer, transport: asyncio.Transport) -> None:
        """Take note of a new connection."""
        self._open[peer] = connection = _Connection(transport=transport)
        self._wait(peer, connection)

    def let_in(self, peer: _Peer) -> None:
        """Let a connection stay until its request is answered."""
        if (connection := self._open.get(peer)) is not None:
            connection.requests += 1
            self._wait_no_more(peer, connection)

    def answered(self, peer: _Peer) -> None:
        """Close a connection soon, unless a further request on it is let in, or has been."""
        if (connection := self._open.get(peer)) is not None:
            connection.requests -= 1
            if connection.requests == 0:
                self._wait(peer, connection)

    def closed(self, peer: _Peer) -> None:
        """Forget a connection."""
        if (connection := self._open.pop(peer, None)) is not None:
            self._wait_no_more(peer, connection)

    def _wait(self, peer: _Peer, connection: _Connection) -> None:
        loop = asyncio.get_running_loop()
        connection.timer = loop.call_later(self._seconds, connection.transport.close)
        self._waiting[peer] = None
        if len(self._waiting) > self._most:
            oldest, _ = self._waiting.popitem(last=False)
            self._open[oldest].transport.close()

    def _wait_no_more(self, peer: _Peer, connection: _Connection) -> None:
        self._waiting.pop(peer, None)
        if connection.timer is not None:
            connection.timer.cancel()


class AdmittedConnections:
    """An application; whoever has come so far may stay until it has answered."""

    def __init__(self, app: ASGIApp, door: ConnectionLimit) -> None:
        self._app = app
        self._door = door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Have a request answered."""
        peer = scope.get("client")
        if scope["type"] != "http" or peer is None:
            await self._app(scope, receive, send)
            return
        self._door.let_in(tuple(peer))
        try:
            await self._app(scope, receive, send)
        finally:
            self._door.answered(tuple(peer))


def watched_protocol(door: ConnectionLimit) -> type[asyncio.Protocol]:
    """Return uvicorn's protocol of HTTP, with each connection told to a door."""

    class Watched(asyncio.Protocol):
        def __init__(self, *given: Any, **named: Any) -> None:
            self._inner = AutoHTTPProtocol(*given, **named)
            self._peer: _Peer = ("", 0)

        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            self._inner.connection_made(transport)
            if isinstance(transport, asyncio.Transport):
                host, port, *_ = transport.get_extra_info("peername") or self._peer
                self._peer = (str(host), int(port))
                door.opened(self._peer, transport)

        def connection_lost(self, exc: Exception | None) -> None:
            door.closed(self._peer)
            self._inner.connection_lost(exc)

        def data_received(self, data: bytes) -> None:
            self._inner.data_received(data)

        def eof_received(self) -> bool | None:
            return self._inner.eof_received()

        def pause_writing(self) -> None:
            self._inner.pause_writing()

        def resume_writing(self) -> None:
            self._inner.resume_writing()

    return Watched

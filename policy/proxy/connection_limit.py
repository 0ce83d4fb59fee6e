"""Limits connections that have not yet authenticated: how many, and for how long.

A connection uses a descriptor from the moment it is made, long before a request on it sends a
token. So a connection that sends none in time is closed, and if too many wait, the oldest is.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any, TypeAlias

from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.auto import AutoHTTPProtocol

from policy.proxy.request_shares import Holder, holder_of
from policy.runtime import Shares

_Peer: TypeAlias = tuple[str, int]


@dataclass(slots=True, kw_only=True)
class _Connection:
    """One connection; `requests` counts those that are admitted and not yet answered.

    `known` is whether any was: whoever has sent a token once keeps nobody out by waiting. `holder`
    is whose share it uses while it waits for another request, if it `is_idle`.
    """

    transport: asyncio.Transport
    timer: asyncio.TimerHandle | None = None
    requests: int = 0
    known: bool = False
    holder: Holder = None
    is_idle: bool = False


class ConnectionLimit:
    """The connections of a server, by the address and port of the client.

    A connection is closed after `seconds` unless a request on it is admitted; the time starts again
    after each answer. At most `most` connections wait for their first request to be admitted, and
    `idle` for another one.
    """

    def __init__(self, *, seconds: float, most: int, idle: int) -> None:
        self._seconds = seconds
        self._most = most
        self._open: dict[_Peer, _Connection] = {}
        self._waiting: OrderedDict[_Peer, None] = OrderedDict()
        self._idle = Shares(idle)

    def opened(self, peer: _Peer, transport: asyncio.Transport) -> None:
        """Record a new connection."""
        self._open[peer] = connection = _Connection(transport=transport)
        self._wait(peer, connection)

    def admit(self, peer: _Peer, holder: Holder) -> None:
        """Keep a connection open until its request is answered."""
        if (connection := self._open.get(peer)) is not None:
            connection.requests += 1
            connection.known = True
            self._stop_waiting(peer, connection)
            connection.holder = holder

    def answered(self, peer: _Peer) -> None:
        """Close a connection soon, unless another request on it is admitted."""
        if (connection := self._open.get(peer)) is not None:
            connection.requests -= 1
            if connection.requests == 0:
                self._wait(peer, connection)

    def closed(self, peer: _Peer) -> None:
        """Remove a closed connection."""
        if (connection := self._open.pop(peer, None)) is not None:
            self._stop_waiting(peer, connection)

    def _wait(self, peer: _Peer, connection: _Connection) -> None:
        loop = asyncio.get_running_loop()
        connection.timer = loop.call_later(self._seconds, _end, connection.transport)
        if connection.known:
            if self._idle.has_room(connection.holder):
                self._idle.take(connection.holder)
                connection.is_idle = True
            else:
                connection.transport.close()
            return
        self._waiting[peer] = None
        if len(self._waiting) > self._most:
            oldest, _ = self._waiting.popitem(last=False)
            self._open[oldest].transport.close()

    def _stop_waiting(self, peer: _Peer, connection: _Connection) -> None:
        self._waiting.pop(peer, None)
        if connection.is_idle:
            self._idle.give_back(connection.holder)
            connection.is_idle = False
        if connection.timer is not None:
            connection.timer.cancel()


def _end(transport: asyncio.Transport) -> None:
    """Close a connection; one whose client has not read the last answer since, at once."""
    if transport.is_closing():
        transport.abort()
    else:
        transport.close()


class AdmittedConnections:
    """An application that admits the connections whose requests reach it."""

    def __init__(self, app: ASGIApp, limit: ConnectionLimit) -> None:
        self._app = app
        self._limit = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on; its connection stays open until the answer."""
        peer = scope.get("client")
        if scope["type"] != "http" or peer is None:
            await self._app(scope, receive, send)
            return
        self._limit.admit(tuple(peer), holder_of(scope))
        try:
            await self._app(scope, receive, send)
        finally:
            self._limit.answered(tuple(peer))


def watched_protocol(limit: ConnectionLimit) -> type[asyncio.Protocol]:
    """Return uvicorn's HTTP protocol, which reports each connection to `limit`."""

    class Watched(asyncio.Protocol):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            self._inner = AutoHTTPProtocol(*args, **kwargs)
            self._peer: _Peer = ("", 0)

        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            self._inner.connection_made(transport)
            if isinstance(transport, asyncio.Transport):
                host, port, *_ = transport.get_extra_info("peername") or self._peer
                self._peer = (str(host), int(port))
                limit.opened(self._peer, transport)

        def connection_lost(self, exc: Exception | None) -> None:
            limit.closed(self._peer)
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

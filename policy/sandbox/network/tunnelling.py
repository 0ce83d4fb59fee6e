"""A tunnel to a host: what passes through it has to be meant for that host.

A host shares its address with others. So the name that a TLS client asks for, and the `Host` of
each plain request, must be the one that was judged; what shows no name at all does not pass.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from dataclasses import replace

from policy.sandbox.network.bounds import Meter, ProxyBounds
from policy.sandbox.network.connecting import Connect, NotPermitted, NotReached, Peer
from policy.sandbox.network.relaying import relay
from policy.sandbox.network.server_name import HANDSHAKE
from policy.sandbox.network.target import Scheme, Target
from policy.sandbox.network.tls_hellos import TlsHellos

# The method of a request, as far as it has arrived.
_REQUEST = re.compile(rb"[A-Za-z]{1,20}( |$)")
_ONLY = "only TLS and HTTP may pass"


class Tunnels:
    """Passes what clients send through tunnels."""

    def __init__(
        self,
        connect: Connect,
        note: Callable[[Target, str], None],
        *,
        bounds: ProxyBounds,
        meter: Meter,
    ) -> None:
        self._connect = connect
        self._note = note
        self._bounds = bounds
        self._meter = meter

    async def serve(self, client: Peer, target: Target, server: Peer, first: bytes) -> None:
        """Pass everything between a client and a server that it was told it is connected to."""
        try:
            async with asyncio.timeout(self._bounds.opening):
                scheme, first = await self._opening(client, target, first)
        except NotPermitted as error:
            self._note(target, str(error))
            return
        except TimeoutError:
            self._note(target, f"{_ONLY}, and the client sends neither")
            return
        connected: Peer | None = server
        if scheme != target.scheme:
            # It was judged as what its port is for, so it is judged again.
            server.abort()
            target, connected = replace(target, scheme=scheme), None
        if scheme == "http":
            await self._serve_http(client, target, connected, first)
        else:
            await self._serve_tls(client, target, connected, first)

    async def _opening(self, client: Peer, target: Target, first: bytes) -> tuple[Scheme, bytes]:
        """Return what a client speaks, and what it has sent by now; raise NotPermitted."""
        first = first or await client.reader.read(self._bounds.head)
        if first[:1] == bytes((HANDSHAKE,)):
            hellos = TlsHellos(client, target, bounds=self._bounds, meter=self._meter)
            return "https", await hellos.first(first)
        if not first:
            raise EOFError("the client has ended before it said anything")
        if not _REQUEST.match(first):
            raise NotPermitted(_ONLY)
        return "http", first

    async def _serve_tls(
        self, client: Peer, target: Target, server: Peer | None, first: bytes
    ) -> None:
        try:
            server = server or await self._connect(target)
        except (NotPermitted, NotReached):
            return
        try:
            await TlsHellos(client, target, bounds=self._bounds, meter=self._meter).pass_on(
                server, first
            )
            await relay(client, server, bounds=self._bounds, meter=self._meter)
        except NotPermitted as error:
            self._note(target, str(error))
        finally:
            server.abort()

    async def _serve_http(
        self, client: Peer, target: Target, server: Peer | None, first: bytes
    ) -> None:
        from policy.sandbox.network.http_session import HttpSession

        session = HttpSession(
            client,
            self._connect,
            self._note,
            bounds=self._bounds,
            meter=self._meter,
            within=target,
            connected=server,
        )
        await session.serve(first)

"""The hellos of a TLS client in a tunnel: each has to name the server that was judged.

A server may ask a client for a second one, which is not encrypted either, and some read the name in
it anew.
"""

from __future__ import annotations

import asyncio

from policy.sandbox.network.bounds import Meter, ProxyBounds
from policy.sandbox.network.connecting import NotPermitted, Peer
from policy.sandbox.network.relaying import CHUNK
from policy.sandbox.network.server_name import (
    NO_SUCH_NAME,
    ClientHello,
    NotTls,
    asks_again,
    client_hello,
)
from policy.sandbox.network.target import Target
from policy.values import quote

_SHOWN = 80
_NOT_READ = "this is no TLS whose server name can be read"


class TlsHellos:
    """Reads and passes on what a client says until the rest is encrypted."""

    def __init__(self, client: Peer, target: Target, *, bounds: ProxyBounds, meter: Meter) -> None:
        self._client = client
        self._target = target
        self._bounds = bounds
        self._meter = meter

    async def first(self, sent: bytes) -> bytes:
        """Return what a client has sent, once it has named the right server; or NotPermitted."""
        sent, _ = await self._hello(sent, second=False)
        return sent

    async def pass_on(self, server: Peer, sent: bytes) -> None:
        """Pass on what the client has sent, its hellos one by one; raise NotPermitted.

        What comes after a hello is held back until the server has answered it.
        """
        async with asyncio.timeout(self._bounds.idle):
            sent, hello = await self._hello(sent, second=False)
            await self._pass(server, sent[: hello.size])
            sent = sent[hello.size :]
            if await self._is_asked_again(server):
                sent, hello = await self._hello(sent, second=True)
        await self._pass(server, sent)

    async def _hello(self, sent: bytes, *, second: bool) -> tuple[bytes, ClientHello]:
        """Return what a client has sent up to its whole hello, and that; raise NotPermitted."""
        try:
            while (hello := client_hello(sent, second=second)) is None:
                more = await self._client.reader.read(CHUNK)
                if not more:
                    raise NotTls
                sent += more
        except NotTls as error:
            raise NotPermitted(_NOT_READ) from error
        try:
            _require_agreement(hello, self._target)
        except NotPermitted:
            self._client.writer.write(NO_SUCH_NAME)
            raise
        return sent, hello

    async def _is_asked_again(self, server: Peer) -> bool:
        """Pass the beginning of a server's answer on; return whether it asks for another hello."""
        answer = b""
        again: bool | None = None
        while again is None:
            chunk = await server.reader.read(CHUNK)
            if not chunk:
                return False
            answer += chunk
            await self._pass(self._client, chunk)
            again = asks_again(answer)
        return again

    async def _pass(self, peer: Peer, data: bytes) -> None:
        if data:
            self._meter.count(len(data))
            peer.writer.write(data)
            await peer.writer.drain()


def _require_agreement(hello: ClientHello, target: Target) -> None:
    """Raise NotPermitted for a TLS client that means another server than the one of the tunnel."""
    name = hello.name
    if hello.is_outer:
        raise NotPermitted("the TLS client may hide which server it means (Encrypted Client Hello)")
    if name is None:
        if not target.address:
            raise NotPermitted("the TLS client does not say which server it means (no SNI)")
    elif target.address or not target.names(f"{name}:{target.port}"):
        raise NotPermitted(f"the TLS client means {quote(name[:_SHOWN])}")

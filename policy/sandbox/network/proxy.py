"""`HostProxy`: what a confined program finds in place of a network.

It accepts connections on one listener and speaks HTTP, CONNECT and SOCKS 5. Where a program may
connect to is asked for each host; nothing of what it sends is trusted.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from contextlib import suppress
from typing import Self

from policy.sandbox.network import socks
from policy.sandbox.network.bounds import Meter, ProxyBounds, TransferUsedUp
from policy.sandbox.network.connecting import (
    Connect,
    NotPermitted,
    NotReached,
    Peer,
    RefusedConnection,
)
from policy.sandbox.network.relaying import CHUNK
from policy.sandbox.network.target import Target, tunnel_target
from policy.sandbox.network.tunnelling import Tunnels
from policy.values import Unreadable

_LOG = logging.getLogger(__name__)
_PAUSE = 0.1  # seconds, where the service has no descriptor left
_LINGER = 1.0  # seconds for a client to read its last answer
_BOUNDS = ProxyBounds()


class HostProxy:
    """Serves one program until it is closed, by the end of its block or by `close`."""

    def __init__(
        self, listener: socket.socket, connect: Connect, *, bounds: ProxyBounds = _BOUNDS
    ) -> None:
        self._listener = listener
        self._connect = connect
        self._bounds = bounds
        self._meter = Meter(bounds.transfer)
        self._slots = asyncio.Semaphore(bounds.connections)
        self._serving: set[asyncio.Task[None]] = set()
        self._accepting: asyncio.Task[None] | None = None
        self._asked = 0
        self._refused: dict[RefusedConnection, None] = {}
        self._tunnels = Tunnels(self._connected, self._note, bounds=bounds, meter=self._meter)

    @property
    def refused(self) -> tuple[RefusedConnection, ...]:
        """The connections that were refused, each once, in order."""
        return tuple(self._refused)

    async def __aenter__(self) -> Self:
        self.start()
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self.close()

    def start(self) -> None:
        """Start to accept connections."""
        self._listener.settimeout(0)
        self._accepting = asyncio.create_task(self._accept())

    async def close(self) -> None:
        """End all connections, and close the listener."""
        tasks = [*self._serving, *((self._accepting,) if self._accepting else ())]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._listener.close()

    async def _accept(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await self._slots.acquire()
            try:
                accepted, _ = await loop.sock_accept(self._listener)
            except OSError:
                self._slots.release()
                await asyncio.sleep(_PAUSE)
                continue
            serving = asyncio.create_task(self._serve(accepted))
            self._serving.add(serving)
            serving.add_done_callback(self._done)

    def _done(self, serving: asyncio.Task[None]) -> None:
        self._serving.discard(serving)
        self._slots.release()

    async def _serve(self, accepted: socket.socket) -> None:
        try:
            client = Peer.of(await asyncio.open_connection(sock=accepted, limit=CHUNK))
        except BaseException:
            accepted.close()
            raise
        try:
            await self._answer(client)
            await _linger(client)
        except (OSError, EOFError, TimeoutError, TransferUsedUp) as error:
            _LOG.debug("a connection from a sandbox has ended", exc_info=error)
        except Exception as error:  # noqa: BLE001 - no client may end the proxy
            _LOG.error("a connection from a sandbox failed: %s", type(error).__name__)
            _LOG.debug("a connection from a sandbox failed", exc_info=error)
        finally:
            client.abort()

    async def _answer(self, client: Peer) -> None:
        async with asyncio.timeout(self._bounds.opening):
            first = await client.reader.readexactly(1)
        if first[0] == socks.VERSION:
            await self._answer_socks(client)
            return
        from policy.sandbox.network.http_session import HttpSession

        async def tunnel(target: Target, server: Peer, first: bytes) -> None:
            await self._tunnels.serve(client, target, server, first)

        session = HttpSession(
            client,
            self._connected,
            self._note,
            bounds=self._bounds,
            meter=self._meter,
            tunnel=tunnel,
        )
        await session.serve(first)

    async def _answer_socks(self, client: Peer) -> None:
        writer = client.writer
        try:
            async with asyncio.timeout(self._bounds.opening):
                host, port = await socks.read_request(client.reader, writer)
        except socks.BadSocks as error:
            writer.write(error.answer)
            return
        target = tunnel_target(host, port)
        try:
            if isinstance(target, Unreadable):
                raise NotPermitted(target.reason)
            server = await self._connected(target)
        except NotPermitted:
            writer.write(socks.reply(socks.REFUSED))
            return
        except NotReached:
            writer.write(socks.reply(socks.UNREACHABLE))
            return
        try:
            writer.write(socks.reply(socks.DONE))
            await self._tunnels.serve(client, target, server, b"")
        finally:
            server.abort()

    async def _connected(self, target: Target) -> Peer:
        self._asked += 1
        try:
            if self._asked > self._bounds.hosts:
                raise NotPermitted("the program has made too many connections")
            return await self._connect(target)
        except NotPermitted as error:
            self._note(target, str(error), rule=error.rule)
            raise NotPermitted(
                f"the sandbox does not connect to {target.text}: {error}", rule=error.rule
            ) from error
        except NotReached as error:
            raise NotReached(f"{target.text} cannot be reached: {error}") from error

    def _note(self, target: Target, why: str, *, rule: str = "") -> None:
        if len(self._refused) < self._bounds.refusals:
            self._refused[RefusedConnection(target=target.text, why=why, rule=rule)] = None


async def _linger(client: Peer) -> None:
    """Let a client read its last answer: what it still sends would otherwise reset it."""
    with suppress(OSError, TimeoutError):
        async with asyncio.timeout(_LINGER):
            await client.writer.drain()
            if client.writer.can_write_eof():
                client.writer.write_eof()
            while await client.reader.read(CHUNK):
                pass

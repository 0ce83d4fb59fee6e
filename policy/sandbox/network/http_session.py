"""HTTP from one client of the proxy: requests for `http://` URLs, one after the other, and CONNECT.

A request is parsed and written anew, so that the server sees exactly what was judged.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeAlias

import h11

from policy.sandbox.network.bounds import Meter, ProxyBounds
from policy.sandbox.network.connecting import Connect, NotPermitted, NotReached, Peer
from policy.sandbox.network.http_messages import (
    BadRequest,
    absolute_target,
    authority_of,
    end_to_end,
    require_agreement,
    with_host,
)
from policy.sandbox.network.relaying import CHUNK
from policy.sandbox.network.target import Target, tunnel_target
from policy.values import Unreadable

_LONGEST_REASON = 300
# Passes what a client sends after CONNECT; the bytes have been read already.
Tunnel: TypeAlias = Callable[[Target, Peer, bytes], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Upstream:
    target: Target
    peer: Peer
    http: h11.Connection


class HttpSession:
    """The requests of one client. `within`: the host that the client has a tunnel to already."""

    def __init__(
        self,
        client: Peer,
        connect: Connect,
        note: Callable[[Target, str], None],
        *,
        bounds: ProxyBounds,
        meter: Meter,
        tunnel: Tunnel | None = None,
        within: Target | None = None,
        connected: Peer | None = None,
    ) -> None:
        self._client = client
        self._connect = connect
        self._note = note
        self._bounds = bounds
        self._meter = meter
        self._tunnel = tunnel
        self._within = within
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=bounds.head)
        self._upstream: _Upstream | None = None
        if within is not None and connected is not None:
            self._upstream = self._upstream_at(within, connected)

    async def serve(self, first: bytes) -> None:
        """Answer requests until the client is done; `first` is what it has sent so far."""
        self._http.receive_data(first)
        try:
            while await self._one_request():
                self._http.start_next_cycle()
        except BadRequest as error:
            await self._refuse(403, str(error))
        except NotPermitted as error:
            await self._refuse(403, str(error))
        except NotReached as error:
            await self._refuse(502, str(error))
        except h11.RemoteProtocolError as error:
            await self._refuse(error.error_status_hint, "this is no HTTP that can be proxied")
        finally:
            self._leave_upstream()

    async def _one_request(self) -> bool:
        """Answer one request; return whether there may be another one."""
        async with asyncio.timeout(self._bounds.opening):
            request = await self._from_client()
        if not isinstance(request, h11.Request):
            return False
        if request.method == b"CONNECT":
            await self._open_tunnel(request)
            return False
        upstream, path = await self._upstream_for(request)
        await self._exchange(request, path, upstream)
        return self._http.states == {h11.CLIENT: h11.DONE, h11.SERVER: h11.DONE}

    # ------------------------------------------------------------------ where it goes

    async def _upstream_for(self, request: h11.Request) -> tuple[_Upstream, bytes]:
        """Return a connection for a request, and what is asked there."""
        target, path = self._target(request)
        try:
            require_agreement(request.headers, target)
        except BadRequest as error:
            self._note(target, str(error))
            raise
        upstream = self._upstream
        if upstream is None or upstream.target != target or not _may_go_on(upstream.peer):
            self._leave_upstream()
            upstream = self._upstream_at(target, await self._connect(target))
            self._upstream = upstream
        return upstream, path

    def _target(self, request: h11.Request) -> tuple[Target, bytes]:
        if self._within is None:
            return absolute_target(request.target)
        if not request.target.startswith(b"/") and request.target != b"*":
            raise BadRequest("within a tunnel there is no other proxy")
        return self._within, request.target

    def _upstream_at(self, target: Target, peer: Peer) -> _Upstream:
        http = h11.Connection(h11.CLIENT, max_incomplete_event_size=self._bounds.head)
        return _Upstream(target=target, peer=peer, http=http)

    def _leave_upstream(self) -> None:
        if self._upstream is not None:
            self._upstream.peer.abort()
            self._upstream = None

    async def _open_tunnel(self, request: h11.Request) -> None:
        if self._tunnel is None:
            raise BadRequest("within a tunnel there is no other proxy")
        target = tunnel_target(*authority_of(request.target))
        if isinstance(target, Unreadable):
            raise BadRequest(target.reason)
        ended = await self._from_client()
        if not isinstance(ended, h11.EndOfMessage):
            raise BadRequest("CONNECT has no body")
        peer = await self._connect(target)
        try:
            answer = h11.Response(status_code=200, headers=[], reason=b"Connection established")
            await self._to_client(answer)
            await self._tunnel(target, peer, self._http.trailing_data[0])
        finally:
            peer.abort()

    # ------------------------------------------------------------------ what passes

    async def _exchange(self, request: h11.Request, path: bytes, upstream: _Upstream) -> None:
        """Pass a request on, and the answer back; both may go on at the same time."""
        headers = with_host(end_to_end(request.headers), upstream.target)
        head = h11.Request(method=request.method, target=path, headers=headers)
        await self._to_server(upstream, head)
        sending = asyncio.create_task(self._send_body(upstream))
        # A server that waits for the rest of a body would wait for ever.
        sending.add_done_callback(lambda sent: upstream.peer.abort() if _failed(sent) else None)
        try:
            await self._return_answer(upstream)
            if sending.done():
                sending.result()
        finally:
            sending.cancel()
            await asyncio.gather(sending, return_exceptions=True)
        done = upstream.http.states == {h11.CLIENT: h11.DONE, h11.SERVER: h11.DONE}
        if done:
            upstream.http.start_next_cycle()
        else:
            self._leave_upstream()

    async def _send_body(self, upstream: _Upstream) -> None:
        while isinstance(event := await self._from_client(), h11.Data):
            await self._to_server(upstream, event)
        if isinstance(event, h11.EndOfMessage):
            await self._to_server(upstream, h11.EndOfMessage())

    async def _return_answer(self, upstream: _Upstream) -> None:
        while True:
            event = await self._from_server(upstream)
            match event:
                case h11.InformationalResponse(status_code=status) if status != 101:
                    passed: Any = h11.InformationalResponse(status_code=status, headers=[])
                case h11.Response():
                    passed = h11.Response(
                        status_code=event.status_code,
                        headers=end_to_end(event.headers),
                        reason=event.reason,
                    )
                case h11.Data():
                    passed = event
                case h11.EndOfMessage():
                    await self._to_client(h11.EndOfMessage())
                    return
                case _:
                    raise NotReached("the server has closed the connection")
            await self._to_client(passed)

    async def _from_client(self) -> Any:
        return await self._next(self._http, self._client)

    async def _from_server(self, upstream: _Upstream) -> Any:
        try:
            return await self._next(upstream.http, upstream.peer)
        except h11.RemoteProtocolError as error:
            raise NotReached("the server does not answer in HTTP") from error
        except OSError as error:
            raise NotReached("the server has closed the connection") from error

    async def _next(self, http: h11.Connection, peer: Peer) -> Any:
        while (event := http.next_event()) is h11.NEED_DATA:
            # What has arrived as a whole is not limited by the parser.
            most = CHUNK if http.their_state is h11.SEND_BODY else self._bounds.head
            async with asyncio.timeout(self._bounds.idle):
                chunk = await peer.reader.read(most)
            self._meter.count(len(chunk))
            http.receive_data(chunk)
        return event

    async def _to_client(self, event: Any) -> None:
        await self._write(self._client, self._http.send(event))

    async def _to_server(self, upstream: _Upstream, event: Any) -> None:
        await self._write(upstream.peer, upstream.http.send(event))

    async def _write(self, peer: Peer, data: bytes | None) -> None:
        if data:
            async with asyncio.timeout(self._bounds.idle):
                peer.writer.write(data)
                await peer.writer.drain()

    async def _refuse(self, status: int, why: str) -> None:
        """Answer with a sentence, which stands in the reason too: some clients show only that."""
        if self._http.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            # An answer has begun: only that it breaks off can be seen.
            self._client.abort()
            return
        body = f"{why}\n".encode()
        headers: Sequence[tuple[str, str]] = (
            ("content-type", "text/plain; charset=utf-8"),
            ("content-length", str(len(body))),
            ("connection", "close"),
        )
        reason = " ".join(why.split()).encode("ascii", "replace")[:_LONGEST_REASON]
        answer = h11.Response(status_code=status, headers=list(headers), reason=reason)
        with suppress(OSError, TimeoutError, h11.LocalProtocolError):
            await self._to_client(answer)
            await self._to_client(h11.Data(data=body))
            await self._to_client(h11.EndOfMessage())


def _may_go_on(peer: Peer) -> bool:
    return peer.is_judged() and not peer.reader.at_eof()


def _failed(task: asyncio.Task[None]) -> bool:
    return not task.cancelled() and task.exception() is not None

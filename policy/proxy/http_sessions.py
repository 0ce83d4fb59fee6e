"""The MCP sessions that clients have open over HTTP: how many, and which have ended.

A client that opens more than its share loses the session that it has not used for longest. So one
that opens sessions and forgets them shuts nobody out, neither others nor itself.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from mcp.server.streamable_http_manager import DEFAULT_SESSION_IDLE_TIMEOUT
from mcp.types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from policy.proxy.connected_client import ConnectedClient, client_of_request
from policy.proxy.request_bodies import read_again, read_body
from policy.proxy.request_shares import Holder, holder_of, refuse
from policy.runtime import Shares

_SESSION, _REVISION = b"mcp-session-id", b"mcp-protocol-version"
_ALL_IN_USE = "this client has too many sessions, and all of them are in use; end some of them"
_SWEPT_EVERY = 60.0  # seconds
# A session keeps what its client tells of itself for as long as it lasts.
_LONGEST_OPENING = 16_000  # bytes
_TOO_LONG = f"a message that opens a session has more than {_LONGEST_OPENING:,} bytes"

Left: TypeAlias = Callable[[ConnectedClient], None]


@dataclass(slots=True)
class _Session:
    """One session: the head of the request that ends it, how many are open, and since when none."""

    end: Scope
    requests: int = 0
    idle_since: float = 0.0


class HttpSessions:
    """Passes requests on, and reports to `left` the clients whose sessions have ended.

    It knows at most `most` sessions, which clients share; one beyond a client's share is refused if
    all its other sessions are in use.
    """

    def __init__(self, app: ASGIApp, *, most: int, left: Sequence[Left] = ()) -> None:
        self._app = app
        self._left = left
        self._shares = Shares(most)
        self._swept_at = 0.0
        # The sessions of each client, the one that was used least recently first.
        self._sessions: dict[Holder, OrderedDict[bytes, _Session]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it if it opens a session for which there is no room."""
        if scope["type"] != "http" or _stands_for_itself(scope):
            await self._app(scope, receive, send)
            return
        holder, named = holder_of(scope), _named(scope["headers"])
        if named is None:
            await self._open(holder, scope, receive, send)
            return
        session = self._of(holder).get(named)
        if session is None:
            await self._app(scope, receive, send)
            return

        async def watched(message: Message) -> None:
            is_start = message["type"] == "http.response.start"
            if is_start and scope["method"] == "DELETE" and message["status"] < 300:
                self._forget(holder, named)
            await send(message)

        self._of(holder).move_to_end(named)
        session.requests += 1
        try:
            await self._app(scope, receive, watched)
        finally:
            session.requests -= 1
            session.idle_since = _now()

    async def _open(self, holder: Holder, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on a request without a session, which may open one."""
        if scope["method"] == "POST":
            parts = await read_body(receive, most=_LONGEST_OPENING)
            if sum(len(part.get("body", b"")) for part in parts) > _LONGEST_OPENING:
                await refuse(413, _TOO_LONG, scope, receive, send)
                return
            if not await self._make_room(holder):
                await refuse(429, _ALL_IN_USE, scope, receive, send)
                return
            receive = read_again(parts, receive)

        async def watched(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] < 300:
                opened = _named(message["headers"])
                if opened is not None:
                    self._add(holder, scope, opened)
            await send(message)

        await self._app(scope, receive, watched)

    def _add(self, holder: Holder, scope: Scope, id: bytes) -> None:
        if _now() - self._swept_at > _SWEPT_EVERY:
            self._forget_ended()
        session = _Session(end=_ending(scope, id), idle_since=_now())
        self._sessions.setdefault(holder, OrderedDict())[id] = session
        self._shares.take(holder)

    async def _make_room(self, holder: Holder) -> bool:
        """End the session that a client has not used for longest, if it has no room for another."""
        if self._shares.has_room(holder):
            return True
        self._forget_ended()
        if self._shares.has_room(holder):
            return True
        own = self._of(holder)
        idle = next((id for id, session in own.items() if not session.requests), None)
        if idle is None:
            return False
        end = own[idle].end
        self._forget(holder, idle)
        await self._app(end, _nothing_more, _unheard)
        return True

    def _forget_ended(self) -> None:
        """Forget the sessions that were not used for so long that they have ended by themselves."""
        self._swept_at = now = _now()
        for holder, own in list(self._sessions.items()):
            for id, session in list(own.items()):
                if not session.requests and now - session.idle_since > DEFAULT_SESSION_IDLE_TIMEOUT:
                    self._forget(holder, id)

    def _of(self, holder: Holder) -> OrderedDict[bytes, _Session]:
        return self._sessions.get(holder, OrderedDict())

    def _forget(self, holder: Holder, id: bytes) -> None:
        own = self._of(holder)
        session = own.pop(id, None)
        if not own:
            self._sessions.pop(holder, None)
        if session is None:
            return
        self._shares.give_back(holder)
        client = client_of_request(Request(session.end))
        for left in self._left:
            left(client)


def _stands_for_itself(scope: Scope) -> bool:
    """Return whether a request is of a revision without sessions, by the header that says so."""
    revision = next((value for name, value in scope["headers"] if name == _REVISION), None)
    return revision is not None and revision.decode("latin-1") not in HANDSHAKE_PROTOCOL_VERSIONS


def _ending(opening: Scope, id: bytes) -> Scope:
    """Return the head of a request that ends a session, as its client would send it."""
    kept = [(name, value) for name, value in opening["headers"] if name in (b"host", b"accept")]
    return {**opening, "method": "DELETE", "headers": [*kept, (_SESSION, id)]}


def _named(headers: list[tuple[bytes, bytes]]) -> bytes | None:
    return next((bytes(value) for name, value in headers if name.lower() == _SESSION), None)


def _now() -> float:
    return asyncio.get_running_loop().time()


async def _nothing_more() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


async def _unheard(_message: Message) -> None:
    return None

"""Limits what the requests of one client hold: how many are open, and how much of their bodies.

Clients are told apart by their tokens, and by their addresses where no token is required. A body
is read as a whole before anything else happens: one that does not end in time is given up. A long
answer is sent in pieces, as fast as the client reads, and counts until it has.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import TypeAlias
from weakref import WeakValueDictionary

from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from policy.proxy.authentication import identity_in
from policy.proxy.request_bodies import read_again
from policy.runtime import Shares

_BODY_SECONDS = 60.0
_RETRY_SECONDS = 5
# A piece of an answer, and how long a client may take to read one.
_PIECE = 65_536
_PIECE_SECONDS = 60.0
# Reading and judging a message of so many bytes takes long enough for others to notice.
_LONG = 8_000
# Judging begins at once; what a call waits for later keeps nobody waiting.
_LONGEST_TURN = 0.25  # seconds
_ALONE_AFTER = 5.0
_TOO_MANY = "this client has too many open requests; wait until some have been answered"
_TOO_MUCH = "this client sends too much at once; wait until some requests have been answered"
_TOO_SLOW = f"the request has not arrived within {_BODY_SECONDS:.0f} seconds"

# Whom the shares of a request belong to.
Holder: TypeAlias = Hashable


def holder_of(scope: Scope) -> Holder:
    """Return whose share a request uses: that of its identity, or of its address without one."""
    identity = identity_in(scope)
    if identity is not None:
        return "identity", identity.name
    return "address", (scope.get("client") or ("",))[0]


class RequestShares:
    """Passes requests on whose client has room, with bodies of at most `largest` bytes."""

    def __init__(self, app: ASGIApp, *, requests: int, bytes: int, largest: int) -> None:
        self._app = app
        self._open = Shares(requests)
        self._bytes = Shares(bytes)
        self._largest = largest
        self._turns = _Turns()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a request, or pass it on when it has arrived."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        holder = holder_of(scope)
        self._turns.note(holder)
        if not self._open.has_room(holder):
            await refuse(429, _TOO_MANY, scope, receive, send)
            return
        self._open.take(holder)
        body = _Body(holder, self._bytes, largest=self._largest)
        send = _Answer(holder, self._bytes, send).send
        try:
            if scope["method"] == "POST":
                await self._read_first(body, scope, receive, send)
            else:
                await self._app(scope, receive, send)
        finally:
            body.release()
            self._open.give_back(holder)

    async def _read_first(self, body: _Body, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on once its body is there, or refuse it."""
        try:
            async with asyncio.timeout(_BODY_SECONDS):
                refusal = await body.read(scope, receive)
        except TimeoutError:
            refusal = 408, _TOO_SLOW
        if refusal is not None:
            await refuse(*refusal, scope, receive, send)
            return
        if body.size < _LONG or self._turns.is_alone(body.holder):
            await self._app(scope, read_again(body.parts, receive), send)
            return
        end_turn = await self._turns.begin(body.holder)
        try:
            await self._app(scope, read_again(body.parts, receive), send)
        finally:
            end_turn()


class _Turns:
    """Has long messages of one client begin one after the other, with as long a pause between.

    A turn ends when the message is answered, or when it has had time to be judged. A client that is
    the only one needs no turns.
    """

    def __init__(self) -> None:
        # When each client was there last; only those of a while ago.
        self._seen: OrderedDict[Holder, float] = OrderedDict()
        self._locks: WeakValueDictionary[Holder, asyncio.Lock] = WeakValueDictionary()

    def is_alone(self, holder: Holder) -> bool:
        """Return whether no other client has sent anything for a while."""
        return all(other == holder for other in self._seen)

    def note(self, holder: Holder) -> None:
        """Note that a client has sent something."""
        now = asyncio.get_running_loop().time()
        self._seen[holder] = now
        self._seen.move_to_end(holder)
        while now - next(iter(self._seen.values())) > _ALONE_AFTER:
            self._seen.popitem(last=False)

    async def begin(self, holder: Holder) -> Callable[[], None]:
        """Wait for a client's turn; return what ends it, which may be called again."""
        loop = asyncio.get_running_loop()
        lock = self._locks.get(holder)
        if lock is None:
            lock = self._locks[holder] = asyncio.Lock()
        await lock.acquire()
        began, ended = loop.time(), False

        def end() -> None:
            nonlocal ended
            if not ended:
                ended = True
                loop.call_later(loop.time() - began, lock.release)

        loop.call_later(_LONGEST_TURN, end)
        return end


class _Body:
    """The body of one request, which counts for its client as long as the request is open."""

    def __init__(self, holder: Holder, shares: Shares, *, largest: int) -> None:
        self.parts: list[Message] = []
        self.holder = holder
        self.size = 0
        self._shares = shares
        self._largest = largest

    async def read(self, scope: Scope, receive: Receive) -> tuple[int, str] | None:
        """Read it to its end; return the status and reason of a refusal if that cannot be done."""
        if _declared(scope) > self._largest:
            return self._too_large()
        more = True
        while more:
            part = await receive()
            size = len(part.get("body", b""))
            if self.size + size > self._largest:
                return self._too_large()
            if size and not self._shares.has_room(self.holder, size):
                return 429, _TOO_MUCH
            self._shares.take(self.holder, size)
            self.size += size
            self.parts.append(part)
            more = part.get("more_body", False)
        return None

    def _too_large(self) -> tuple[int, str]:
        return 413, f"the message has more than {self._largest:,} bytes (`[serve] message_bytes`)"

    def release(self) -> None:
        """Give its bytes back."""
        self.parts.clear()
        self._shares.give_back(self.holder, self.size)
        self.size = 0


class _Answer:
    """The answer to one request; what is not read of it counts for its client, for a while."""

    def __init__(self, holder: Holder, shares: Shares, send: Send) -> None:
        self._holder = holder
        self._shares = shares
        self._send = send

    async def send(self, message: Message) -> None:
        """Send a part of it; raise ClientDisconnect for a client that does not read."""
        body = message.get("body", b"")
        size = len(body)
        if size <= _PIECE:
            await self._send(message)
            return
        if not self._shares.has_room(self._holder, size):
            raise ClientDisconnect
        self._shares.take(self._holder, size)
        try:
            for start in range(0, size, _PIECE):
                end = start + _PIECE
                more = end < size or message.get("more_body", False)
                piece = {**message, "body": body[start:end], "more_body": more}
                async with asyncio.timeout(_PIECE_SECONDS):
                    await self._send(piece)
        except TimeoutError:
            raise ClientDisconnect from None
        finally:
            self._shares.give_back(self._holder, size)


def _declared(scope: Scope) -> int:
    """Return how long a body says that it is; 0 where it says nothing that can be read."""
    said = [value for name, value in scope["headers"] if name == b"content-length"]
    return int(said[0]) if len(said) == 1 and said[0].isdigit() and len(said[0]) < 20 else 0


async def refuse(status: int, why: str, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer a request that is not read to its end."""
    headers = {"Connection": "close"}
    if status == 429:
        headers["Retry-After"] = str(_RETRY_SECONDS)
    await JSONResponse({"error": why}, status_code=status, headers=headers)(scope, receive, send)

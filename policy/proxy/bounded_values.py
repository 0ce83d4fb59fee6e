"""Refuses HTTP requests of more values than are read, before the application reads them."""

from __future__ import annotations

from mcp.types import PARSE_ERROR
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from policy.proxy.request_bodies import read_again, read_body
from policy.proxy.unreadable import STATED, TOO_MANY_VALUES, id_in
from policy.runtime import Threads
from policy.values import has_too_many_values, most_values

_THREADS = Threads("counting values of requests", most=4)
_WINDOW = 300  # bytes at either end of a message in which its id may be


class BoundedValues:
    """Passes requests on; bodies of more than `largest` bytes are for the application to refuse."""

    def __init__(self, app: ASGIApp, *, largest: int) -> None:
        self._app = app
        self._largest = largest
        self._most = most_values(largest)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a request, or pass it on."""
        if scope["type"] != "http" or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        messages = await read_body(receive, most=self._largest)
        body = b"".join(message.get("body", b"") for message in messages)
        # Two bytes make a value, and it takes a while to count many.
        large = 2 * self._most < len(body) <= self._largest
        if large and await _THREADS.run(has_too_many_values, body, self._most):
            error = {"code": PARSE_ERROR, "message": STATED[TOO_MANY_VALUES]}
            ends = (body[:_WINDOW], body[-_WINDOW:])
            id = id_in(*(part.decode("utf-8", "replace") for part in ends))
            refusal = JSONResponse({"jsonrpc": "2.0", "id": id, "error": error}, status_code=400)
            await refusal(scope, receive, send)
            return
        await self._app(scope, read_again(messages, receive), send)

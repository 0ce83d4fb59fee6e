"""Refuses HTTP requests whose JSON-RPC id is in use in their session.

An answer finds its request by session and id. A second request with the same id would get the
answer to the first, and the first none, so it is refused before anything runs.
"""

from __future__ import annotations

import json
from typing import Any

from mcp.types import INVALID_REQUEST
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from policy.proxy.request_bodies import read_again, read_body

ID_IN_USE = "a request with this id has not been answered yet"
_SESSION = b"mcp-session-id"


class UniqueIds:
    """Passes at most one request with the same id and session to the application at once.

    Bodies of more than `largest` bytes are passed on unchanged: the application refuses them.
    """

    def __init__(self, app: ASGIApp, *, largest: int) -> None:
        self._app = app
        self._largest = largest
        self._in_use: set[tuple[bytes, str]] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a request, or pass it on."""
        session = _session_of(scope)
        if session is None:
            await self._app(scope, receive, send)
            return
        messages = await read_body(receive, most=self._largest)
        id = _id_in(b"".join(message.get("body", b"") for message in messages))
        if id is None:
            await self._app(scope, read_again(messages, receive), send)
            return
        key = (session, str(id))
        if key in self._in_use:
            error = {"code": INVALID_REQUEST, "message": ID_IN_USE}
            refusal = JSONResponse({"jsonrpc": "2.0", "id": id, "error": error}, status_code=400)
            await refusal(scope, receive, send)
            return
        self._in_use.add(key)
        try:
            await self._app(scope, read_again(messages, receive), send)
        finally:
            self._in_use.discard(key)


def _session_of(scope: Scope) -> bytes | None:
    """Return the session that a message is posted to; None for any other request."""
    if scope["type"] != "http" or scope["method"] != "POST":
        return None
    return next((bytes(value) for name, value in scope["headers"] if name == _SESSION), None)


def _id_in(body: bytes) -> str | int | None:
    """Return the id of a request; None if there is none: the application answers that."""
    try:
        message: Any = json.loads(body)
    except (ValueError, RecursionError):
        return None
    if not isinstance(message, dict) or "method" not in message:
        return None
    id = message.get("id")
    return id if isinstance(id, str | int) and not isinstance(id, bool) else None

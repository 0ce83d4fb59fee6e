"""`GET /healthz`: the state as one word; details for clients that send the token."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

from starlette.types import ASGIApp, Receive, Scope, Send

from policy.proxy.authentication import Identity

HEALTH_PATH = "/healthz"

# Returns all details; `state` is the word that every client gets.
ReadHealth: TypeAlias = Callable[[], dict[str, Any]]
IdentityOf: TypeAlias = Callable[[Scope], Awaitable[Identity | None]]


class HealthEndpoint:
    """Answers `GET /healthz`, and passes all other requests to the application.

    `identity_of` returns whose token a request has. The status is 200 if a current policy is
    in force and nothing is frozen, else 503.
    """

    def __init__(self, app: ASGIApp, read_health: ReadHealth, identity_of: IdentityOf) -> None:
        self._app = app
        self._read_health = read_health
        self._identity_of = identity_of

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer the request, or pass it to the application."""
        if scope["type"] != "http" or scope["path"] != HEALTH_PATH or scope["method"] != "GET":
            await self._app(scope, receive, send)
            return
        health = self._read_health()
        known = await self._identity_of(scope) is not None
        shown = health if known else {"state": health["state"]}
        body = json.dumps(shown).encode()
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
            (b"cache-control", b"no-store"),
        ]
        status = 200 if health["state"] == "up" else 503
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

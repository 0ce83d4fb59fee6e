"""`GET /healthz`: the state as one word; details for clients that send the token."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TypeAlias

from starlette.types import ASGIApp, Receive, Scope, Send

HEALTH_PATH = "/healthz"

# All that is known of how things stand; `state` is the word that everybody is told.
TellHealth: TypeAlias = Callable[[], dict[str, Any]]


class HealthEndpoint:
    """An application beside which `GET /healthz` is answered; `knows` tells who shows the token.

    The answer is 200 where a fresh policy is in force and nothing is frozen, else 503.
    """

    def __init__(self, app: ASGIApp, tell: TellHealth, knows: Callable[[Scope], bool]) -> None:
        self._app = app
        self._tell = tell
        self._knows = knows

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or leave the request to the application."""
        if scope["type"] != "http" or scope["path"] != HEALTH_PATH or scope["method"] != "GET":
            await self._app(scope, receive, send)
            return
        found = self._tell()
        told = found if self._knows(scope) else {"state": found["state"]}
        body = json.dumps(told).encode()
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
            (b"cache-control", b"no-store"),
        ]
        status = 200 if found["state"] == "up" else 503
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

"""Reports clients over HTTP that end their session with a DELETE request."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from policy.proxy.connected_client import ConnectedClient, client_of_request

Left: TypeAlias = Callable[[ConnectedClient], None]


class SessionEnds:
    """Passes requests on, and reports those that have ended a session."""

    def __init__(self, app: ASGIApp, left: Sequence[Left]) -> None:
        self._app = app
        self._left = left

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] != "http" or scope["method"] != "DELETE":
            await self._app(scope, receive, send)
            return

        async def watched(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] < 300:
                client = client_of_request(Request(scope))
                for left in self._left:
                    left(client)
            await send(message)

        await self._app(scope, receive, watched)

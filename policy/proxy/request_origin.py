"""Refuses HTTP requests whose Host or Origin has another form than browsers and clients write.

The SDK compares both with the names of this server, and takes anything for a port: with
`127.0.0.1:1@evil.example` a check by prefix holds, and whoever reads it as an address is elsewhere.
"""

from __future__ import annotations

import re

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

_AUTHORITY = r"(?:\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9_.-]{1,253})(?::[0-9]{1,5})?"
_FORMS = {
    b"host": re.compile(_AUTHORITY),
    b"origin": re.compile(rf"null|[a-z][a-z0-9+.-]*://{_AUTHORITY}"),
}


class WellFormedOrigins:
    """Passes requests on whose Host and Origin are each one host with a port, or none."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a request, or pass it on."""
        if scope["type"] == "http":
            for name, form in _FORMS.items():
                sent = [value.decode("latin-1") for key, value in scope["headers"] if key == name]
                if len(sent) > 1 or not all(map(form.fullmatch, sent)):
                    said = f"Invalid {name.decode().capitalize()} header"
                    await PlainTextResponse(said, status_code=400)(scope, receive, send)
                    return
        await self._app(scope, receive, send)

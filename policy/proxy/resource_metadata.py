"""Where a client gets a token for this server: the metadata of a protected resource (RFC 9728).

A client that has no token is told their address in the answer 401. They name the issuer of the
configuration in force and the audience that its tokens have, which is the address of this server.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TypeAlias
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Receive, Scope, Send

from policy.generation import JwtIssuer

WELL_KNOWN = "/.well-known/oauth-protected-resource"

# Returns the issuer of the configuration in force, None if there is none.
IssuerNow: TypeAlias = Callable[[], JwtIssuer | None]


def metadata_url(issuer: JwtIssuer | None) -> str | None:
    """Return the address of the metadata; None without an audience that is an address."""
    audience = "" if issuer is None else issuer.audience
    # The address becomes part of a header.
    if not audience.isascii() or not audience.isprintable() or any(c in audience for c in '"\\ '):
        return None
    try:
        parts = urlsplit(audience)
        known = parts.scheme in ("https", "http") and bool(parts.hostname) and not parts.fragment
    except ValueError:
        return None
    path = "" if parts.path == "/" else parts.path
    query = f"?{parts.query}" if parts.query else ""
    return f"{parts.scheme}://{parts.netloc}{WELL_KNOWN}{path}{query}" if known else None


class ResourceMetadata:
    """Answers requests for the metadata, and passes all others to the application.

    They hold nothing secret, so that no token is needed, and web pages may read them.
    """

    def __init__(self, app: ASGIApp, issuer: IssuerNow) -> None:
        self._app = app
        self._issuer = issuer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer the request, or pass it to the application."""
        issuer = self._issuer()
        url = metadata_url(issuer)
        if issuer is None or url is None or not _asks_for(url, scope):
            await self._app(scope, receive, send)
            return
        body = json.dumps(
            {
                "resource": issuer.audience,
                "authorization_servers": [issuer.issuer],
                "bearer_methods_supported": ["header"],
            }
        ).encode()
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
            (b"cache-control", b"no-store"),
            (b"access-control-allow-origin", b"*"),
        ]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})


def _asks_for(url: str, scope: Scope) -> bool:
    """Return whether a request is for the metadata, by their path or by the host's alone."""
    if scope["type"] != "http" or scope["method"] != "GET":
        return False
    return scope["path"] in (WELL_KNOWN, urlsplit(url).path)

"""Admits HTTP requests with a bearer token that belongs to somebody, and says to whom.

The identity of a request is that of its token. The SDK serves a session to the identity that has
opened it, and to no other.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Receive, Scope, Send

from policy.model import Caller

_SCHEME = b"bearer "
_LONGEST_TOKEN = 16_384  # bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Whom a token belongs to. `name` is that of no other identity.

    `caller` None: the caller that the configuration names for the whole server. `said`: what its
    client tells of its user's messages counts.
    """

    name: str
    caller: Caller | None = None
    said: bool = False


class Identities(Protocol):
    """Knows whose tokens there are."""

    @property
    def required(self) -> bool:
        """Whether a request needs a token; without one it has no identity."""
        ...

    async def identity_of(self, token: bytes) -> Identity | None:
        """Return whom a token belongs to, None if it is nobody's."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class OneToken:
    """One token for all clients, whose caller the configuration names."""

    token: str

    @property
    def required(self) -> bool:
        """Every request needs it."""
        return True

    async def identity_of(self, token: bytes) -> Identity | None:
        """Return the one identity if this is its token."""
        if hmac.compare_digest(token, self.token.encode()):
            return Identity(name="the token")
        return None


class _User(AuthenticatedUser):
    """The identity of a request, in the form in which the SDK compares the owners of sessions."""

    def __init__(self, identity: Identity) -> None:
        super().__init__(AccessToken(token="", client_id=identity.name, scopes=[]))
        self.placet_identity = identity


class TokenRequired:
    """Passes requests with a known bearer token to an application, and refuses all others.

    `metadata` returns the address at which clients read where they get a token, None without one.
    """

    def __init__(
        self,
        app: ASGIApp,
        identities: Identities,
        *,
        metadata: Callable[[], str | None] = lambda: None,
    ) -> None:
        self._app = app
        self._identities = identities
        self._metadata = metadata

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a request, or pass it on with its identity."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        identity = await self.identity_of(scope)
        if identity is None:
            if self._identities.required:
                await _unauthorized(send, scope, self._metadata())
            else:
                await self._app(scope, receive, send)
            return
        await self._app({**scope, "user": _User(identity)}, receive, send)

    async def identity_of(self, scope: Scope) -> Identity | None:
        """Return whose token a request has, None if it has none, several, or nobody's."""
        sent = [value for name, value in scope["headers"] if name == b"authorization"]
        if len(sent) != 1 or sent[0][: len(_SCHEME)].lower() != _SCHEME:
            return None
        token = sent[0][len(_SCHEME) :]
        if not token or len(token) > _LONGEST_TOKEN:
            return None
        return await self._identities.identity_of(token)


def identity_of(request: HTTPConnection) -> Identity | None:
    """Return whose token an admitted request had; None where no token is required."""
    return identity_in(request.scope)


def identity_in(scope: Scope) -> Identity | None:
    """Return what `identity_of` does, of the scope of a request."""
    user = scope.get("user")
    return user.placet_identity if isinstance(user, _User) else None


async def _unauthorized(send: Send, scope: Scope, metadata: str | None) -> None:
    challenge = 'Bearer realm="placet"'
    if any(name == b"authorization" for name, _ in scope["headers"]):
        challenge += ', error="invalid_token"'
    if metadata is not None:
        challenge += f', resource_metadata="{metadata}"'
    body = b'{"error": "a bearer token is required"}'
    await send(
        {
            "type": "http.response.start",
            "status": 401,
            "headers": [
                (b"content-type", b"application/json"),
                (b"content-length", str(len(body)).encode()),
                (b"www-authenticate", challenge.encode()),
            ],
        }
    )
    await send({"type": "http.response.body", "body": body})

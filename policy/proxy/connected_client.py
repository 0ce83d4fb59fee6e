"""`ConnectedClient`: where a call came from: its connection, its identity, and the way back."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import TypeAlias

from starlette.requests import Request

from policy.proxy.authentication import Identity, identity_of
from policy.proxy.context import Context
from policy.proxy.session_ids import named_session, session_id_of
from policy.tools import ClientRequests, ProgressReporter, Watch

_STDIO = "stdio"

# A connection, and the name of an identity.
Owner: TypeAlias = tuple[str | None, str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectedClient:
    """The client of one message.

    `connection` names its MCP connection; None for a request over HTTP that stands for itself.
    `identity` is that of its token, None where there are no tokens. `progress` takes reports about
    its call, None if the client wants none; `requests` is what it can be asked; `watch`
    hears of changes of the resource that is asked for.
    """

    connection: str | None
    identity: Identity | None = None
    progress: ProgressReporter | None = None
    requests: ClientRequests | None = None
    watch: Watch | None = field(default=None, compare=False, repr=False)
    # Two calls that stand for themselves may come from two windows of one user.
    _call: object = field(default_factory=object, compare=False, repr=False)

    @property
    def origin(self) -> Hashable:
        """The connection; the call itself where there is none."""
        return self._call if self.connection is None else self.connection

    @property
    def owner(self) -> Owner:
        """The connection and the name of the identity: those of all calls of one client."""
        return self.connection, None if self.identity is None else self.identity.name


def client_of(ctx: Context) -> ConnectedClient:
    """Return the client that a message came from."""
    if ctx.request is None:
        return ConnectedClient(connection=_STDIO)
    return ConnectedClient(connection=_named(session_id_of(ctx)), identity=identity_of(ctx.request))


def client_of_request(request: Request) -> ConnectedClient:
    """Return the client of the session that an HTTP request names, and that the SDK knows."""
    return ConnectedClient(connection=_named(named_session(request)), identity=identity_of(request))


def _named(session_id: str | None) -> str | None:
    # Whoever knows the id of a session could use it, so it gets into no record.
    return None if session_id is None else hashlib.sha256(session_id.encode()).hexdigest()

"""Serves MCP over streamable HTTP, on one address."""

from __future__ import annotations

import asyncio
import resource
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings
from starlette.types import ASGIApp, Scope

from policy.generation import ClientSettings
from policy.proxy.authentication import Identities, TokenRequired
from policy.proxy.bounded_values import BoundedValues
from policy.proxy.connection_limit import AdmittedConnections, ConnectionLimit, watched_protocol
from policy.proxy.health import HealthEndpoint, ReadHealth
from policy.proxy.http_sessions import HttpSessions, Left
from policy.proxy.request_ids import UniqueIds
from policy.proxy.request_origin import WellFormedOrigins
from policy.proxy.request_shares import RequestShares
from policy.proxy.resource_metadata import IssuerNow, ResourceMetadata, metadata_url
from policy.proxy.server import ToolServer

PATH = "/mcp"
_LOCAL = ("127.0.0.1", "localhost", "[::1]")
# Limits of connections without an admitted request: how long each may stay, and how many.
_UNKNOWN_SECONDS = 10.0
_MOST_UNKNOWN = 300
_MOST_IDLE = 600
# What all clients share: open requests, bytes of their bodies, and sessions.
_MOST_REQUESTS = 1_000
_MOST_BYTES = 256_000_000
_MOST_SESSIONS = 4_000
# Descriptors that are wanted: for connections, and for the programs of servers behind them.
_DESCRIPTORS = 4_096
_GRACE = 2  # seconds that open streams have to end


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """The address to listen on. `names` are further Host headers to accept, without a port."""

    host: str
    port: int
    names: tuple[str, ...] = ()

    @property
    def shown(self) -> str:
        """The host as it is written in a URL."""
        return f"[{self.host}]" if ":" in self.host else self.host


async def serve_http(
    server: ToolServer,
    address: Address,
    *,
    identities: Identities | None,
    listening: Callable[[str], None],
    health: ReadHealth | None = None,
    left: Left | None = None,
    issuer: IssuerNow = lambda: None,
    largest: int = ClientSettings().message_bytes,
) -> None:
    """Serve until cancelled; `listening` gets the URL. Raises OSError if the address is not free.

    With `identities`, every request without a token that they know gets 401; without, every client
    is served. `health` returns the details for `/healthz`. `left` hears of clients who have ended
    their session. `issuer` returns whose signed tokens are accepted now, for clients that ask. A
    message has at most `largest` bytes.
    """
    # A web page that makes a browser on this machine send requests has another Host or Origin.
    hosts = (*_LOCAL, address.shown, *address.names)
    app: ASGIApp = server.streamable_http_app(
        streamable_http_path=PATH,
        max_request_body_size=largest,
        transport_security=TransportSecuritySettings(
            enable_dns_rebinding_protection=True,
            allowed_hosts=[name for host in hosts for name in (host, f"{host}:*")],
            allowed_origins=[f"http://{host}:*" for host in hosts],
        ),
    )
    app = WellFormedOrigins(app)
    limit = ConnectionLimit(seconds=_UNKNOWN_SECONDS, most=_MOST_UNKNOWN, idle=_MOST_IDLE)
    app = BoundedValues(UniqueIds(app, largest=largest), largest=largest)
    told = [each for each in (server.left, left) if each is not None]
    app = HttpSessions(app, most=_MOST_SESSIONS, left=told)
    app = RequestShares(app, requests=_MOST_REQUESTS, bytes=_MOST_BYTES, largest=largest)
    app = AdmittedConnections(app, limit)
    protected = (
        None
        if identities is None
        else TokenRequired(app, identities, metadata=lambda: metadata_url(issuer()))
    )
    # Like a health request, one for metadata does not admit its connection.
    app = ResourceMetadata(protected or app, issuer)
    if health is not None:
        # A health request does not admit its connection.
        app = HealthEndpoint(app, health, _nobody if protected is None else protected.identity_of)
    _allow_descriptors()
    bound = _bound(address)
    listening(f"http://{address.shown}:{bound.getsockname()[1]}{PATH}")
    config = uvicorn.Config(
        app,
        http=watched_protocol(limit),
        limit_concurrency=_MOST_UNKNOWN + _MOST_IDLE + _MOST_REQUESTS,
        # Connections are identified by their real address, not by a header.
        proxy_headers=False,
        log_config=None,
        access_log=False,
        log_level="critical",
        lifespan="on",
        ws="none",
        timeout_graceful_shutdown=_GRACE,
    )
    try:
        await _run(_Listener(config), (bound,))
    finally:
        bound.close()


def _allow_descriptors() -> None:
    """Let the process have as many descriptors as connections may take, if it may."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _DESCRIPTORS if hard == resource.RLIM_INFINITY else min(_DESCRIPTORS, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _bound(address: Address) -> socket.socket:
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    # Of sockets that do not name the protocol, asyncio does not know that they are TCP, and leaves
    # them waiting for acknowledgements between the parts of an answer (TCP_NODELAY).
    bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((address.host, address.port))
        bound.listen(1_024)
        bound.setblocking(False)  # noqa: FBT003 - an interface of the standard library
    except OSError:
        bound.close()
        raise
    return bound


class _Listener(uvicorn.Server):
    """A server that leaves signals to the code that runs it."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture nothing."""
        yield


async def _run(listener: _Listener, sockets: Sequence[socket.socket]) -> None:
    """Run until cancelled, then wait for open requests to end."""
    serving = asyncio.ensure_future(listener.serve(sockets=list(sockets)))
    try:
        await asyncio.shield(serving)
    except asyncio.CancelledError:
        listener.should_exit = True
        with suppress(Exception):
            await serving
        raise


async def _nobody(_scope: Scope) -> None:
    return None

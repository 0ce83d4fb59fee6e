"""MCP servers as configured: how each is reached, and who shares a session with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from policy.model import EMPTY

# Who shares a session with a server: the calls of one session, those of one caller, or all.
Isolation: TypeAlias = Literal["session", "caller", "shared"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretReference:
    """A secret that stands elsewhere: in an environment variable, or in a file (absolute path)."""

    env: str | None = None
    file: str | None = None


Value: TypeAlias = str | SecretReference


@dataclass(frozen=True, slots=True, kw_only=True)
class StdioServer:
    """A program that is started, and spoken to over its standard streams.

    `env` is added to the few variables that it gets. `folder` is absolute.
    """

    command: tuple[str, ...]
    env: Mapping[str, Value] = field(default_factory=lambda: EMPTY)
    folder: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OAuthClient:
    """Credentials of Placet itself at the authorization server `issuer`."""

    client_id: str
    client_secret: SecretReference
    issuer: str
    scope: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpServer:
    """A server over streamable HTTP; it gets a bearer token, one by OAuth, or none."""

    url: str
    headers: Mapping[str, Value] = field(default_factory=lambda: EMPTY)
    token: SecretReference | None = None
    oauth: OAuthClient | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WebSocketServer:
    """A server over a WebSocket."""

    url: str
    headers: Mapping[str, Value] = field(default_factory=lambda: EMPTY)
    token: SecretReference | None = None


ServerTransport: TypeAlias = StdioServer | HttpServer | WebSocketServer


@dataclass(frozen=True, slots=True, kw_only=True)
class McpServer:
    """One server. Times are in seconds.

    `start` is how long connecting may take, `listing` how long listing its tools. What nobody has
    used for `idle` is closed; an open session is checked every `check`. `sessions` is how many
    there may be.
    """

    name: str
    transport: ServerTransport
    isolation: Isolation = "session"
    start: float = 30.0
    listing: float = 30.0
    idle: float = 600.0
    check: float = 60.0
    sessions: int = 100

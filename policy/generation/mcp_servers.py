"""MCP servers as configured: how each is reached, and who shares a session with it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from policy.catalog import Origin, identifier_problem
from policy.diagnostics import visible
from policy.generation.sandbox_settings import Reach
from policy.model import EMPTY

_NAME = re.compile(r"[A-Za-z0-9-]+(_[A-Za-z0-9-]+)*")
_LONGEST_NAME = 32

# Who shares a session with a server: the calls of one session, those of one caller, or all.
Isolation: TypeAlias = Literal["session", "caller", "shared"]
# What a server may ask of the client that calls it, in the words of the protocol.
ClientFeature: TypeAlias = Literal["elicitation", "sampling", "roots"]

# What a result leads to that does not satisfy the output schema of its tool.
OutputSchema: TypeAlias = Literal["off", "warn", "strict"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretReference:
    """A secret that stands elsewhere: in an environment variable, or in a file (absolute path)."""

    env: str | None = None
    file: str | None = None


Value: TypeAlias = str | SecretReference


@dataclass(frozen=True, slots=True, kw_only=True)
class StdioServer:
    """A program that is started, and spoken to over its standard streams.

    `env` is added to the few variables that it gets. `folder` is absolute. `reach` is what it may
    touch; None: it is not confined.
    """

    command: tuple[str, ...]
    env: Mapping[str, Value] = field(default_factory=lambda: EMPTY)
    folder: str | None = None
    reach: Reach | None = None

    def runs_in(self) -> str | None:
        """Return the folder that it runs in; None if that cannot be known.

        Without a folder of its own, it is this process's, and in a sandbox the home folder.
        """
        if self.folder is not None:
            return self.folder
        if self.reach is not None:
            return os.path.expanduser("~")
        try:
            return os.getcwd()
        except OSError:
            return None


@dataclass(frozen=True, slots=True, kw_only=True)
class OAuthClient:
    """Credentials of Placet itself at the authorization server `issuer`."""

    client_id: str
    client_secret: SecretReference
    issuer: str
    scope: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpServer:
    """A server over streamable HTTP; it gets a bearer token, one by OAuth, or none.

    `folder` (absolute) is the one from which it resolves relative paths; None: nobody knows.
    """

    url: str
    headers: Mapping[str, Value] = field(default_factory=lambda: EMPTY)
    token: SecretReference | None = None
    oauth: OAuthClient | None = None
    folder: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WebSocketServer:
    """A server over a WebSocket; `folder` as that of a server over HTTP."""

    url: str
    headers: Mapping[str, Value] = field(default_factory=lambda: EMPTY)
    token: SecretReference | None = None
    folder: str | None = None


ServerTransport: TypeAlias = StdioServer | HttpServer | WebSocketServer


@dataclass(frozen=True, slots=True, kw_only=True)
class McpServer:
    """One server. Times are in seconds.

    `start` is how long connecting may take, `listing` how long listing its tools. What nobody has
    used for `idle` is closed; an open session is checked every `check`. `sessions` is how many
    there may be. `client_features` is what the server is told that it may ask of the client, and
    `output_schema` what a result leads to that is not what its tool declares.
    """

    name: str
    transport: ServerTransport
    isolation: Isolation = "session"
    start: float = 30.0
    listing: float = 30.0
    idle: float = 600.0
    check: float = 60.0
    sessions: int = 100
    client_features: frozenset[ClientFeature] = frozenset()
    output_schema: OutputSchema = "warn"


def server_folders(servers: Iterable[McpServer]) -> Mapping[str, str | None]:
    """Return the folder from which each server resolves relative paths, by name; None: unknown."""
    return {server.name: _folder_of(server.transport) for server in servers}


def _folder_of(server: ServerTransport) -> str | None:
    return server.runs_in() if isinstance(server, StdioServer) else server.folder


def name_problem(name: str) -> str | None:
    """Return why a server cannot have this name; None if it can.

    Tools are called `server__tool`, so that a name must end before the first `__`.
    """
    if name == "ext" or "__" in name:
        return identifier_problem(Origin(kind="mcp", server=name, tool="tool"))
    if not _NAME.fullmatch(name) or len(name) > _LONGEST_NAME:
        return (
            f"`{visible(name, 80)}` cannot name a server: it takes up to {_LONGEST_NAME} letters, "
            "digits, `-`, and single `_` between them"
        )
    return None

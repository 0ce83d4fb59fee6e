"""Reads the servers of `[mcp]` in placet.toml, and of files that other MCP clients have, too."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any, Self
from urllib.parse import urlsplit

from pydantic import BaseModel, BeforeValidator, Field, model_validator

from policy.diagnostics import visible
from policy.generation.mcp_servers import (
    ClientFeature,
    HttpServer,
    Isolation,
    McpServer,
    OAuthClient,
    OutputSchema,
    SecretReference,
    ServerTransport,
    StdioServer,
    WebSocketServer,
    name_problem,
)
from policy.generation.sandbox_tables import ReachTable, reach_of
from policy.generation.setting_types import STRICT, FolderFile, Seconds

_DEFAULTS = McpServer(name="", transport=StdioServer(command=()))
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SCHEMES = ("http", "https", "ws", "wss")
_LOCAL = re.compile(r"localhost|127(\.[0-9]+){3}|::1")
_BY_REFERENCE = 'a secret is named by where it stands: `{ env = "NAME" }` or `{ file = "PATH" }`'
_AUTHORIZATION = 'a token is not written into `headers`: use `token = { env = "NAME" }`, or a file'


def _reference(value: Any) -> SecretReference:
    if isinstance(value, SecretReference):
        return value
    if not isinstance(value, dict) or len(value) != 1 or not value.keys() <= {"env", "file"}:
        raise ValueError(_BY_REFERENCE)
    ((kind, name),) = value.items()
    if not isinstance(name, str) or not name or "\0" in name:
        raise ValueError(_BY_REFERENCE)
    if kind == "env" and not _VARIABLE.fullmatch(name):
        raise ValueError(f"`{visible(name, 80)}` is not the name of an environment variable")
    return SecretReference(**value)


def _value(value: Any) -> str | SecretReference:
    if not isinstance(value, str):
        return _reference(value)
    if "\0" in value or "\n" in value or "\r" in value:
        raise ValueError("a value stands in one line")
    return value


def is_variable(name: str) -> bool:
    """Return whether an environment variable can have this name."""
    return _VARIABLE.fullmatch(name) is not None


def _by_name(value: Any) -> Any:
    """Return servers by name; `[[mcp.servers]]` is a list of tables that each have a `name`."""
    found = value
    if isinstance(value, list):
        found = {}
        for number, entry in enumerate(value, start=1):
            name = entry.get("name") if isinstance(entry, dict) else None
            if not isinstance(name, str):
                raise ValueError(f"server {number} has no `name`")
            if name in found:
                raise ValueError(f"two servers are called `{visible(name, 80)}`")
            found[name] = {key: part for key, part in entry.items() if key != "name"}
    problems = [] if not isinstance(found, dict) else [p for p in map(name_problem, found) if p]
    if problems:
        raise ValueError(problems[0])
    return found


Reference = Annotated[Any, BeforeValidator(_reference)]
Value = Annotated[Any, BeforeValidator(_value)]


class _Table(BaseModel):
    model_config = STRICT


class _OAuth(_Table):
    client_id: str = Field(min_length=1)
    client_secret: Reference
    issuer: str = Field(min_length=1)
    scope: str | None = None


class ServerTable(_Table):
    """One server as it is written."""

    command: str | None = Field(default=None, min_length=1)
    args: list[str] = []
    env: dict[str, Value] = {}
    cwd: str | None = Field(default=None, min_length=1)
    url: str | None = None
    headers: dict[str, Value] = {}
    token: Reference | None = None
    oauth: _OAuth | None = None
    isolation: Isolation = _DEFAULTS.isolation
    start: Seconds = _DEFAULTS.start
    listing: Seconds = _DEFAULTS.listing
    idle: Seconds = _DEFAULTS.idle
    check: Seconds = _DEFAULTS.check
    sessions: int = Field(default=_DEFAULTS.sessions, ge=1, le=10_000)
    client_features: list[ClientFeature] = []
    output_schema: OutputSchema = _DEFAULTS.output_schema
    sandbox: ReachTable | None = None

    @model_validator(mode="after")
    def _fits(self) -> Self:
        problem = self._problem()
        if problem is not None:
            raise ValueError(problem)
        return self

    def _problem(self) -> str | None:
        if (self.command is None) == (self.url is None):
            return "a server has either a `command` that starts it, or a `url`"
        if self.url is None:
            written = [key for key in ("headers", "token", "oauth") if key in self.model_fields_set]
            return (
                f"`{written[0]}` is for a server with a `url`" if written else self._bad_command()
            )
        if "\0" in (self.cwd or ""):
            return "a folder cannot hold a NUL character"
        local = [key for key in ("args", "env", "sandbox") if key in self.model_fields_set]
        if local:
            return f"`{local[0]}` is for a server with a `command`"
        return _bad_url(self.url) or self._bad_credentials(self.url)

    def _bad_command(self) -> str | None:
        if any("\0" in part for part in (self.command or "", self.cwd or "", *self.args)):
            return "a command cannot hold a NUL character"
        wrong = next((name for name in self.env if not is_variable(name)), None)
        if wrong is not None:
            return f"`{visible(wrong, 80)}` is not the name of an environment variable"
        return None

    def _bad_credentials(self, url: str) -> str | None:
        if any(name.lower() == "authorization" for name in self.headers):
            return _AUTHORIZATION
        if self.token is not None and self.oauth is not None:
            return "`token` and `oauth` are two tokens for one server; keep one of them"
        parts = urlsplit(url)
        if self.oauth is not None and parts.scheme in ("ws", "wss"):
            return "`oauth` is for servers over HTTP; a WebSocket takes a `token`"
        has_secret = (
            self.token is not None
            or self.oauth is not None
            or any(isinstance(value, SecretReference) for value in self.headers.values())
        )
        local = _LOCAL.fullmatch(parts.hostname or "") is not None
        if has_secret and parts.scheme in ("http", "ws") and not local:
            return f"a secret is sent over an encrypted connection only, not to `{parts.scheme}:`"
        return None


class McpTable(_Table):
    """The table `[mcp]`. `files` list servers as other MCP clients do."""

    servers: Annotated[dict[str, ServerTable], BeforeValidator(_by_name)] = {}
    files: list[FolderFile] = []


def _bad_url(url: str) -> str | None:
    try:
        parts = urlsplit(url)
        known = parts.scheme in _SCHEMES and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        known = False
    if not known or not url.isprintable() or " " in url:
        return "`url` is an address such as `https://host/mcp`, or `wss://host/mcp`"
    if "@" in parts.netloc:
        return "a `url` has no user name or password in it; use `token`"
    return None


def servers_of(table: McpTable, root: str) -> tuple[McpServer, ...]:
    """Return the servers of a table; paths are relative to `root`."""
    return tuple(server_of(name, server, root) for name, server in table.servers.items())


def server_of(name: str, table: ServerTable, root: str) -> McpServer:
    """Return one server of a table."""
    return McpServer(
        name=name,
        transport=_transport(table, root),
        isolation=table.isolation,
        start=table.start,
        listing=table.listing,
        idle=table.idle,
        check=table.check,
        sessions=table.sessions,
        client_features=frozenset(table.client_features),
        output_schema=table.output_schema,
    )


def _transport(table: ServerTable, root: str) -> ServerTransport:
    folder = None if table.cwd is None else _below(table.cwd, root)
    if table.command is not None:
        return StdioServer(
            command=(table.command, *table.args),
            env=placed_values(table.env, root),
            folder=folder,
            reach=None if table.sandbox is None else reach_of(table.sandbox, root),
        )
    url, headers = table.url or "", placed_values(table.headers, root)
    token = None if table.token is None else placed_reference(table.token, root)
    if urlsplit(url).scheme in ("ws", "wss"):
        return WebSocketServer(url=url, headers=headers, token=token, folder=folder)
    oauth = table.oauth
    return HttpServer(
        url=url,
        headers=headers,
        token=token,
        folder=folder,
        oauth=None
        if oauth is None
        else OAuthClient(
            client_id=oauth.client_id,
            client_secret=placed_reference(oauth.client_secret, root),
            issuer=oauth.issuer,
            scope=oauth.scope,
        ),
    )


def placed_values(
    values: Mapping[str, str | SecretReference], root: str
) -> Mapping[str, str | SecretReference]:
    """Return values by name, the paths of files with secrets made absolute."""
    return MappingProxyType(
        {
            name: value if isinstance(value, str) else placed_reference(value, root)
            for name, value in values.items()
        }
    )


def placed_reference(secret: SecretReference, root: str) -> SecretReference:
    """Return a reference to a secret, a file's path made absolute."""
    return secret if secret.file is None else SecretReference(file=_below(secret.file, root))


def _below(path: str, root: str) -> str:
    return posixpath.normpath(posixpath.join(root, path))

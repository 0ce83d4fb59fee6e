"""Reads the files in which MCP clients list their servers: `mcpServers`, or `mcp.servers`."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from policy.diagnostics import Diagnostic, diagnose, did_you_mean, visible
from policy.generation.decoding import decode
from policy.generation.folder import Snapshot
from policy.generation.mcp_servers import McpServer, name_problem
from policy.generation.settings import Settings
from policy.generation.toml_positions import Path, TomlPosition
from policy.generation.walk import SETTINGS_FILE
from policy.model import Source, Span
from policy.values import Unreadable, read_plain_json

# What other clients call the transports that we recognise by a command or an address.
_TRANSPORTS = {
    "command": ("stdio",),
    "url": ("http", "streamable-http", "streamableHttp", "streamable_http", "ws", "websocket"),
}
_OLD_TRANSPORT = "sse"
_VARIABLE = re.compile(r"\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)\}")
_BEARER = re.compile(r"(?i:bearer) +(\S+)")
_OF_CLIENTS = frozenset({"autoApprove", "alwaysAllow", "allowedTools", "trust"})
_FORMS = 'it holds `{"mcpServers": {"NAME": {…}}}`, or `{"mcp": {"servers": […]}}`'


def with_listed_servers(
    settings: Settings, snapshot: Snapshot, found: Mapping[Path, TomlPosition]
) -> tuple[Settings, tuple[Diagnostic, ...]]:
    """Return the settings with the servers of `[mcp] files`, and what is wrong with these.

    `found` are the positions in `placet.toml`.
    """
    if not settings.mcp_files:
        return settings, ()
    servers = {server.name: (server, SETTINGS_FILE) for server in settings.mcp_servers}
    problems: list[Diagnostic] = []
    place = found.get(("mcp", "files"))
    for name in settings.mcp_files:
        source = _source(snapshot, name, None if place is None else place.value, problems)
        if source is None:
            continue
        read, wrong = read_server_file(source, root=snapshot.root)
        problems += wrong
        for server in read:
            if server.name in servers:
                problems.append(_twice(server.name, servers[server.name][1], source))
            else:
                servers[server.name] = (server, name)
    every = tuple(server for server, _ in servers.values())
    return replace(settings, mcp_servers=every), tuple(problems)


def _source(
    snapshot: Snapshot, name: str, span: Span | None, problems: list[Diagnostic]
) -> Source | None:
    if name in snapshot.unread:
        problems.append(snapshot.unread[name])
        return None
    if name not in snapshot.files:
        json_files = [file for file in snapshot.files if file.endswith(".json")]
        problems.append(
            diagnose(
                "bad-settings",
                f"there is no file `{visible(name, 200)}`",
                span=span,
                file=None if span is not None else SETTINGS_FILE,
                help=did_you_mean(name, json_files)
                or "paths start at the policy folder, and end in `.json`",
            )
        )
        return None
    source, wrong = decode(name, snapshot.files[name].content, drop_mark=True)
    problems += wrong
    return source


def _twice(name: str, place: str, source: Source) -> Diagnostic:
    return diagnose(
        "bad-settings",
        f"a server called `{visible(name, 80)}` is configured in `{visible(place, 200)}` already",
        span=_span(source, (name,)),
        help="remove one of them, or give it another name",
    )


def read_server_file(
    source: Source, *, root: str
) -> tuple[tuple[McpServer, ...], tuple[Diagnostic, ...]]:
    """Return the servers of a file, and everything that is wrong with it.

    Relative paths in it are taken relative to `root`. A server that is disabled is left out.
    """
    read = read_plain_json(source.text)
    if isinstance(read, Unreadable):
        return (), (_bad(source, (), read.reason, help=_FORMS),)
    entries = _entries(read)
    if isinstance(entries, str):
        return (), (_bad(source, (), entries, help=_FORMS),)
    servers: list[McpServer] = []
    problems: list[Diagnostic] = []
    for name, entry in entries:
        made = _server(name, entry, source, root)
        if isinstance(made, McpServer):
            servers.append(made)
        else:
            problems += made
    return tuple(servers), tuple(problems)


def read_server(name: str, entry: Mapping[str, Any], *, root: str) -> McpServer | str:
    """Return a server as a table describes it, or what is wrong with the table, in one line.

    Relative paths in it are taken relative to `root`. The name is taken as it is.
    """
    from policy.generation.mcp_tables import ServerTable, server_of

    try:
        return server_of(name, ServerTable.model_validate(dict(entry)), root)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        message = first["msg"].removeprefix("Value error, ")
        return f"`{visible(place, 200)}`: {message}" if place else message


def _entries(read: Any) -> list[tuple[str, Any]] | str:
    """Return the servers by name, or why this is no list of servers."""
    if not isinstance(read, dict):
        return "this is not a list of servers"
    found = read.get("mcpServers")
    if found is None and isinstance(read.get("mcp"), dict):
        found = read["mcp"].get("servers")
    if isinstance(found, dict):
        return list(found.items())
    if not isinstance(found, list):
        return "this is not a list of servers"
    entries: dict[str, Any] = {}
    for number, entry in enumerate(found, start=1):
        name = entry.get("name") if isinstance(entry, dict) else None
        if not isinstance(name, str):
            return f"server {number} has no `name`"
        if name in entries:
            return f"two servers are called `{visible(name, 80)}`"
        entries[name] = {key: value for key, value in entry.items() if key != "name"}
    return list(entries.items())


def _server(name: str, entry: Any, source: Source, root: str) -> McpServer | list[Diagnostic]:
    problem = name_problem(name)
    if problem is not None:
        return [_bad(source, (name,), problem)]
    if not isinstance(entry, dict):
        return [_bad(source, (name,), "a server is an object with a `command` or a `url`")]
    if entry.get("disabled") is True:
        return []
    problem = _transport_problem(entry)
    if problem is not None:
        return [_bad(source, (name, "type"), problem)]
    # Imported here: most policies have no servers, and the models take a while to be made.
    from policy.generation.mcp_tables import ServerTable, server_of

    try:
        table = ServerTable.model_validate(_as_table(entry))
    except ValidationError as error:
        return [_said(detail, name, source) for detail in error.errors()]
    return server_of(name, table, root)


def _transport_problem(entry: Mapping[str, Any]) -> str | None:
    """Return why the transport that an entry names is not the one that it describes."""
    said = entry.get("type", entry.get("transport"))
    if said is None:
        return None
    if said == _OLD_TRANSPORT:
        return "HTTP with SSE was replaced by streamable HTTP, and is not supported"
    fitting = _TRANSPORTS["command" if "command" in entry else "url"]
    return None if said in fitting else f"`type` is one of {', '.join(fitting)} here"


def _as_table(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return an entry as placet.toml has it: with references in place of `${NAME}`."""
    table = {
        key: value
        for key, value in entry.items()
        if key not in ("type", "transport", "disabled", "description")
    }
    for key in ("env", "headers"):
        if isinstance(table.get(key), dict):
            table[key] = {name: _referring(value) for name, value in table[key].items()}
    headers = table.get("headers")
    if isinstance(headers, dict) and "token" not in table:
        _move_token(table, headers)
    return table


def _referring(value: Any) -> Any:
    variable = _VARIABLE.fullmatch(value) if isinstance(value, str) else None
    return value if variable is None else {"env": variable[1]}


def _move_token(table: dict[str, Any], headers: dict[str, Any]) -> None:
    """Make a `token` of the header `Authorization: Bearer ${NAME}`."""
    for name, value in headers.items():
        bearer = _BEARER.fullmatch(value) if isinstance(value, str) else None
        variable = None if bearer is None else _VARIABLE.fullmatch(bearer[1])
        if name.lower() == "authorization" and variable is not None:
            table["token"] = {"env": variable[1]}
            table["headers"] = {other: each for other, each in headers.items() if other != name}


def _said(detail: ErrorDetails, name: str, source: Source) -> Diagnostic:
    path = (name, *(step for step in detail["loc"] if isinstance(step, str)))
    if detail["type"] == "extra_forbidden":
        from policy.generation.mcp_tables import ServerTable

        known = tuple(ServerTable.model_fields)
        key = path[-1]
        help = f"known here: {', '.join(known)}"
        if key in _OF_CLIENTS:
            help = "remove it: rules decide which calls are approved"
        return diagnose(
            "unknown-setting",
            f"`{visible('.'.join(path), 200)}` is no setting",
            span=_span(source, path),
            help=did_you_mean(key, known) or help,
        )
    message = detail["msg"].removeprefix("Value error, ")
    return _bad(source, path, f"`{visible(path[-1], 80)}`: {message[:1].lower() + message[1:]}")


def _bad(source: Source, path: Path, message: str, *, help: str = "") -> Diagnostic:
    return diagnose(
        "bad-settings",
        message,
        span=_span(source, path),
        help=help or "`placet check --explain bad-settings` shows how values are written",
    )


def _span(source: Source, path: Path) -> Span:
    """Return where a key stands: the first one of its name after those above it."""
    at, length = 0, 0
    for step in path:
        quoted = json.dumps(step, ensure_ascii=False)
        found = source.text.find(quoted, at + length)
        if found < 0:
            break
        at, length = found, len(quoted)
    return source.span(at, at + length)

"""A server as a client has it -> a server of `placet.toml`, and what the client keeps of it.

Values of variables and headers may be secrets, and clients fill in what they refer to
(`${input:token}`). So they stay in the client's file, as variables of the gateway, and placet.toml
refers to these.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from policy.generation import read_server, server_name_problem

# What the variables of the gateway begin with that were those of servers.
VARIABLES = "PLACET_MCP_"
# Keys that say how a server is reached, or that change nothing of it.
_OWN = frozenset(
    "command args env cwd url httpUrl serverUrl headers http_headers env_http_headers"
    " bearer_token_env_var env_vars type transport disabled enabled startup_timeout_sec"
    " name description".split()
)
_STDIO, _HTTP = ("stdio", "local"), ("http", "streamable-http", "streamableHttp", "remote", "ws")
_FILLED_IN = re.compile(r"\$\{[^}]*\}|\$[A-Za-z_]\w*|%\w+%")
_BEARER = re.compile(r"(?i:bearer) +(\S.*)")
_SECRET_OPTION = re.compile(r"-{1,2}[\w-]*(?:token|key|secret|passw(?:or)?d|credentials?)", re.I)
_SECRET = re.compile(
    r"""(?:token|key|secret|passw(?:or)?d)[\w-]*=[^\s=]{6}      # --token=…, ?api_key=…
    | ://[^/\s@]*:[^/\s@]+@                                     # postgres://user:password@…
    | \b(?:gh[oprsu]_|github_pat_|glpat-|sk-|xox[abp]-|AKIA|Bearer\ )[\w-]{8}""",
    re.I | re.X,
)
_NO_SSE = "HTTP with SSE was replaced by streamable HTTP, and is not supported"
_NOT_FILLED_IN = "has `{}`, which only the client can fill in: write it out"
_NOT_COPIED = "has what looks like a secret, which is not copied: pass it in {}"


class NotMovedError(Exception):
    """A server cannot be moved; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MovedServer:
    """A server behind the gateway.

    `table` is what placet.toml has; `variables` are those of the gateway that it refers to,
    `inherited` the names of those that the client passes on from its own environment. `left_out`
    are the keys of the client that Placet does not have.
    """

    name: str
    table: Mapping[str, Any]
    variables: Mapping[str, str] = field(default_factory=dict)
    inherited: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


def is_disabled(entry: Any) -> bool:
    """Return whether a client does not start a server."""
    return isinstance(entry, dict) and (
        entry.get("disabled") is True or entry.get("enabled") is False
    )


def moved(name: str, entry: Any) -> MovedServer:
    """Return a server of a client as it is behind the gateway; raises NotMovedError."""
    problem = server_name_problem(name)
    if problem is not None:
        raise NotMovedError(problem)
    if not isinstance(entry, dict):
        raise NotMovedError("it is not an object with a `command` or a `url`")
    if entry.get("envFile") is not None:
        raise NotMovedError("`envFile` is not read: name its variables in `env`")
    move = _Move(name, entry)
    table = dict(move.table())
    found = read_server(name, table, root=os.sep)
    if isinstance(found, str):
        raise NotMovedError(found)
    return MovedServer(
        name=name,
        table=table,
        variables=move.variables,
        inherited=tuple(move.inherited),
        left_out=tuple(key for key in entry if key not in _OWN),
    )


class _Move:
    """Reads one entry; collects the variables that the gateway gets for it."""

    def __init__(self, name: str, entry: Mapping[str, Any]) -> None:
        self._name = name
        self._entry = entry
        self.variables: dict[str, str] = {}
        self.inherited: list[str] = []

    def table(self) -> Iterator[tuple[str, Any]]:
        """Yield the keys of the server's table with their values."""
        url = next(
            (self._entry[k] for k in ("httpUrl", "url", "serverUrl") if k in self._entry), None
        )
        self._require_transport(url)
        if url is None or "command" in self._entry:
            yield from self._program()
        if url is not None:
            yield "url", self._plain("url", url, "a header")
            yield from self._headers()
        seconds = self._entry.get("startup_timeout_sec")
        if isinstance(seconds, int | float) and seconds > 0:
            yield "start", f"{max(1, round(seconds))}s"

    def _require_transport(self, url: Any) -> None:
        said = self._entry.get("type", self._entry.get("transport"))
        # Gemini CLI means SSE by `url`, and streamable HTTP by `httpUrl`.
        if said == "sse" or (isinstance(url, str) and url.rstrip("/").endswith("/sse")):
            raise NotMovedError(_NO_SSE)
        fitting = _STDIO if url is None else _HTTP
        if said is not None and said not in fitting:
            raise NotMovedError(f"`type` is one of {', '.join(fitting)} here")

    def _program(self) -> Iterator[tuple[str, Any]]:
        for key in ("command", "args", "cwd"):
            value = self._entry.get(key)
            if value is None:
                continue
            if key == "args" and isinstance(value, list):
                yield key, self._arguments(value)
            else:
                yield key, self._plain(key, value, "`env`")
        folder = self._entry.get("cwd")
        if isinstance(folder, str) and not os.path.isabs(folder):
            raise NotMovedError("`cwd` must be a full path")
        given = self._entry.get("env") or {}
        if not isinstance(given, dict):
            raise NotMovedError("`env` is an object")
        passed = {key: self._kept(key, value) for key, value in given.items()}
        for key in self._entry.get("env_vars") or ():
            if isinstance(key, str):
                passed[key] = self._from_client(key)
        if passed:
            yield "env", passed

    def _arguments(self, values: list[Any]) -> list[Any]:
        for before, value in zip(["", *values], values, strict=False):
            if isinstance(before, str) and _SECRET_OPTION.fullmatch(before):
                raise NotMovedError(f"`args` {_NOT_COPIED.format('`env`')}")
            self._plain("args", value, "`env`")
        return values

    def _headers(self) -> Iterator[tuple[str, Any]]:
        given = {**(self._entry.get("headers") or {}), **(self._entry.get("http_headers") or {})}
        headers: dict[str, Any] = {}
        for key, value in given.items():
            bearer = _BEARER.fullmatch(value) if isinstance(value, str) else None
            if key.lower() == "authorization" and bearer is not None:
                yield "token", self._kept("TOKEN", bearer[1])
            else:
                headers[key] = self._kept(key, value)
        for key, variable in (self._entry.get("env_http_headers") or {}).items():
            headers[key] = self._from_client(variable)
        variable = self._entry.get("bearer_token_env_var")
        if variable is not None:
            yield "token", self._from_client(variable)
        if headers:
            yield "headers", headers

    def _plain(self, key: str, value: Any, elsewhere: str) -> Any:
        """Return a value that is copied: it has nothing to fill in, and no secret."""
        if isinstance(value, str):
            filled_in = _FILLED_IN.search(value)
            if filled_in is not None:
                raise NotMovedError(f"`{key}` {_NOT_FILLED_IN.format(filled_in[0])}")
            if _SECRET.search(value):
                raise NotMovedError(f"`{key}` {_NOT_COPIED.format(elsewhere)}")
        return value

    def _kept(self, key: str, value: Any) -> dict[str, str]:
        """Return a reference to a value that stays in the client's file."""
        if not isinstance(value, str | int | float):
            raise NotMovedError(f"`{key}` is not a string")
        words = re.sub(r"[^A-Za-z0-9]+", "_", f"{self._name}_{key}").upper()
        variable, number = f"{VARIABLES}{words}", 2
        while variable in self.variables:
            variable, number = f"{VARIABLES}{words}_{number}", number + 1
        self.variables[variable] = value if isinstance(value, str) else str(value)
        return {"env": variable}

    def _from_client(self, variable: Any) -> dict[str, str]:
        if not isinstance(variable, str):
            raise NotMovedError("the name of an environment variable is a string")
        self.inherited.append(variable)
        return {"env": variable}

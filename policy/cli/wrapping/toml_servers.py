"""The servers of Codex: tables `[mcp_servers.NAME]` in its `config.toml`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self

from policy.config_edit import write_key, write_value
from policy.values import Unreadable

_TABLE = "mcp_servers"
_HEADER = re.compile(r"[ \t]*\[{1,2}[ \t]*([^\]\n]+?)[ \t]*\]{1,2}[ \t]*(?:#[^\n]*)?\r?\n?")
_NOT_EDITABLE = "its tables `[mcp_servers.NAME]` cannot be edited as they are written"


@dataclass(frozen=True, slots=True, kw_only=True)
class TomlServers:
    """A text whose servers are tables of their own."""

    text: str
    kind: str = "codex"

    @classmethod
    def read(cls, text: str) -> Self:
        """Return the servers in a text; raises ValueError if there is no list of them."""
        servers = tomllib.loads(text).get(_TABLE)
        if not isinstance(servers, dict):
            raise ValueError("it has no list of MCP servers: `[mcp_servers.NAME]`")
        return cls(text=text)

    @property
    def servers(self) -> Mapping[str, Any]:
        """The servers by name, in their order."""
        found: Mapping[str, Any] = tomllib.loads(self.text).get(_TABLE, {})
        return found

    def without(self, name: str) -> Self:
        """Return the file without a server; raises ValueError."""
        lines = self.text.splitlines(keepends=True)
        own = {number for part in _sections(lines, name) for number in part}
        kept = "".join(line for number, line in enumerate(lines) if number not in own)
        wanted = {key: value for key, value in self.servers.items() if key != name}
        return self._checked(kept, wanted)

    def with_server(self, name: str, entry: Mapping[str, Any]) -> Self:
        """Return the file with one server more; raises ValueError."""
        parts = {key: value for key, value in entry.items() if isinstance(value, Mapping)}
        own = {key: value for key, value in entry.items() if key not in parts}
        tables = [_written((_TABLE, name), own)]
        tables += [_written((_TABLE, name, key), table) for key, table in parts.items()]
        return self._appended("\n".join(tables), {name: entry})

    def with_server_of(self, other: Self, name: str) -> Self:
        """Return the file with a server as it is written in another one; raises ValueError."""
        lines = other.text.splitlines(keepends=True)
        parts = ["".join(lines[number] for number in part) for part in _sections(lines, name)]
        return self._appended("\n".join(parts), {name: other.servers[name]})

    def _appended(self, written: str, more: Mapping[str, Any]) -> Self:
        before = self.text.rstrip("\r\n")
        ending = "\r\n" if "\r\n" in self.text else "\n"
        block = written.replace("\r\n", "\n").rstrip("\n").replace("\n", ending)
        text = f"{before}{ending * 2 if before else ''}{block}{ending}"
        return self._checked(text, {**self.servers, **more})

    def _checked(self, text: str, wanted: Mapping[str, Any]) -> Self:
        """Return the edited file if it is exactly what it should be."""
        rest = {key: value for key, value in tomllib.loads(self.text).items() if key != _TABLE}
        try:
            found = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise ValueError(_NOT_EDITABLE) from error
        if found.pop(_TABLE, {}) != wanted or found != rest:
            raise ValueError(_NOT_EDITABLE)
        return type(self)(text=text)


def _sections(lines: list[str], name: str) -> Iterator[range]:
    """Yield the lines of each table of a server, without comments before the next table."""
    headers = [
        (number, path) for number, line in enumerate(lines) if (path := _path(line)) is not None
    ]
    ends = [number for number, _ in headers[1:]] + [len(lines)]
    for (start, path), next_start in zip(headers, ends, strict=True):
        if path[:2] != (_TABLE, name):
            continue
        end = next_start
        while end > start + 1 and lines[end - 1].lstrip().startswith("#"):
            end -= 1
        yield range(start, end)


def _path(line: str) -> tuple[str, ...] | None:
    """Return the path of a table whose header this line is, None if it is none."""
    found = _HEADER.fullmatch(line)
    if found is None:
        return None
    try:
        table: Any = tomllib.loads(f"[{found[1]}]")
    except tomllib.TOMLDecodeError:
        return None
    path: list[str] = []
    while isinstance(table, dict) and table:
        ((key, table),) = table.items()
        path.append(key)
    return tuple(path)


def _written(path: tuple[str, ...], table: Mapping[str, Any]) -> str:
    lines = [f"[{'.'.join(write_key((part,)) for part in path)}]"]
    for key, value in table.items():
        shown = write_value(value)
        if isinstance(shown, Unreadable):
            raise ValueError(f"`{key}`: {shown.reason}")
        lines.append(f"{write_key((key,))} = {shown}")
    return "\n".join(lines) + "\n"

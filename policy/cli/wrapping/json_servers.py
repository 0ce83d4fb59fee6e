"""The servers of a client in JSON, with or without comments: `mcpServers`, `servers`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self, TypeAlias

from policy.cli.agent_settings.json_text import Entry, Node, added, read, removed

# The keys above the servers.
Place: TypeAlias = tuple[str, ...]
# VS Code has the last two: in a file of its own, and in its settings.
_PLACES: tuple[Place, ...] = (("mcpServers",), ("servers",), ("mcp", "servers"))
_NO_LIST = "it has no list of MCP servers: `mcpServers`, `servers` or `mcp.servers`"


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonServers:
    """A text, and where in it the servers are."""

    text: str
    place: Place

    @classmethod
    def read(cls, text: str) -> Self:
        """Return the servers in a text; raises ValueError if there is no list of them."""
        whole = read(text)
        for place in _PLACES:
            found = _at(whole, place)
            if found is not None and isinstance(found.value, dict):
                names = [entry.key for entry in found.entries]
                if len(names) > len(set(names)):
                    raise ValueError(f"a server is twice in `{'.'.join(place)}`")
                return cls(text=text, place=place)
        raise ValueError(_NO_LIST)

    @property
    def kind(self) -> str:
        """How a server is written."""
        return "json" if self.place == _PLACES[0] else "vscode"

    @property
    def servers(self) -> Mapping[str, Any]:
        """The servers by name, in their order."""
        value: Mapping[str, Any] = self._list().value
        return value

    def without(self, name: str) -> Self:
        """Return the file without a server."""
        servers = self._list()
        return self._with(removed(self.text, servers, _named(servers, name)))

    def with_server(self, name: str, entry: Mapping[str, Any]) -> Self:
        """Return the file with one server more."""
        return self._with(added(self.text, self._list(), entry, key=name))

    def with_server_of(self, other: Self, name: str) -> Self:
        """Return the file with a server as it is written in another one."""
        theirs = _named(other._list(), name).node
        shown = other.text[theirs.start : theirs.end]
        more = self.with_server(name, {})
        node = _named(more._list(), name).node
        return more._with(more.text[: node.start] + shown + more.text[node.end :])

    def _with(self, text: str) -> Self:
        return type(self)(text=text, place=self.place)

    def _list(self) -> Node:
        found = _at(read(self.text), self.place)
        assert found is not None  # it has been read
        return found


def _at(node: Node, place: Place) -> Node | None:
    for key in place:
        found = [entry.node for entry in node.entries if entry.key == key]
        if not isinstance(node.value, dict) or len(found) != 1:
            return None
        node = found[0]
    return node


def _named(servers: Node, name: str) -> Entry:
    return next(entry for entry in servers.entries if entry.key == name)

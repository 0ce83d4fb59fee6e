"""The file in which an MCP client lists its servers, as a text that can be edited and restored."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol, Self

from policy.cli.wrapping.json_servers import JsonServers
from policy.cli.wrapping.toml_servers import TomlServers


class ClientFile(Protocol):
    """The text of such a file. Editing it keeps everything else in it, comments too."""

    @property
    def text(self) -> str:
        """The whole text."""
        ...

    @property
    def kind(self) -> str:
        """`json`, `vscode` or `codex`: how a server is written."""
        ...

    @property
    def servers(self) -> Mapping[str, Any]:
        """The servers by name, in their order."""
        ...

    def without(self, name: str) -> Self:
        """Return the file without a server."""
        ...

    def with_server(self, name: str, entry: Mapping[str, Any]) -> Self:
        """Return the file with one server more."""
        ...

    def with_server_of(self, other: Self, name: str) -> Self:
        """Return the file with a server as it is written in another one."""
        ...


def read_client_file(file: Path, text: str) -> ClientFile:
    """Return the servers in a text; raises ValueError if it is no such file."""
    return TomlServers.read(text) if file.suffix == ".toml" else JsonServers.read(text)

"""The options that name an MCP server to ask, and the answer of that server."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from policy.catalog import Origin, identifier_problem
from policy.cli.loading import exit_with
from policy.diagnostics import visible
from policy.generation import McpServer, read_server

_OPTIONS = (
    click.option("--url", help="The address of an MCP server over HTTP."),
    click.option(
        "--token-file",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        help="The file with the bearer token for --url.",
    ),
    click.option(
        "--env",
        "variables",
        multiple=True,
        metavar="VARIABLE",
        help="Pass this environment variable on to COMMAND, which gets only a few.",
    ),
    click.option(
        "--timeout",
        type=click.FloatRange(min=0.1, max=3600),
        default=30.0,
        show_default=True,
        help="How many seconds the server may take.",
    ),
)


def server_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say where a server is."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedServer:
    """A server as the command line names it: the name that rules call it by, and where it is."""

    name: str
    command: tuple[str, ...]
    url: str | None
    token_file: Path | None
    variables: tuple[str, ...]
    timeout: float

    def as_configured(self) -> McpServer:
        """Return it as if a policy configured it; ends the command if that is not possible."""
        if (self.url is None) is (not self.command):
            exit_with("--server needs a command after `--`, or --url, and not both")
        require_client()
        self.require_name()
        missing = [each for each in self.variables if each not in os.environ]
        if missing:
            exit_with(f"there is no environment variable {visible(', '.join(missing), 200)}")
        found = read_server(self.name, self._table(), root=os.getcwd())
        if isinstance(found, str):
            exit_with(f"server {visible(self.name, 80)}: {found}")
        return found

    def _table(self) -> dict[str, Any]:
        if self.url is None:
            command, *arguments = self.command
            passed = {name: {"env": name} for name in self.variables}
            return {"command": command, "args": arguments, "env": passed}
        token = None if self.token_file is None else {"file": str(self.token_file)}
        return {"url": self.url} if token is None else {"url": self.url, "token": token}

    def require_name(self) -> None:
        """End the command if no server can be called so."""
        problem = identifier_problem(Origin(kind="mcp", server=self.name))
        if problem is not None:
            exit_with(f"a server cannot be called so: {problem}")


def require_client() -> None:
    """End the command if the client for MCP is not installed."""
    if find_spec("mcp") is None:
        exit_with("asking a server needs the extra `mcp`: install placet[mcp]")

"""What the commands of `placet pin` share: the server that is named, asked, and compared."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from policy.catalog import ALIASES, builtin_catalog
from policy.cli.loading import exit_code, exit_with, prefix
from policy.cli.mcp_server import NamedServer, require_client, server_options
from policy.cli.options import path_argument
from policy.cli.pin.lock_at import LockAt, lock_at
from policy.cli.wrapping.client_variables import variables_from, wrapped_option
from policy.cli.wrapping.moved_server import VARIABLES
from policy.diagnostics import did_you_mean, has_errors, render, visible
from policy.generation import McpServer, StdioServer, configuration, read_folder
from policy.pins import (
    KnownNames,
    Lock,
    Review,
    ServerDefinitions,
    UnusableDefinitions,
    compare,
    definitions_of,
    recorded_definitions,
    review,
)
from policy.values import Unreadable, read_plain_json

if TYPE_CHECKING:
    from policy.mcp import McpFailure

_LARGEST = 16 * 1024 * 1024
_COMMAND = "policy.cli.pin.command"


class ServerCommand(click.Command):
    """A command of which all that stands after `--` is the command of a server."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keep what stands after `--` aside."""
        own, after = _split(args)
        ctx.meta[_COMMAND] = tuple(after)
        return super().parse_args(ctx, own)

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """Return the words of the usage line."""
        return [*super().collect_usage_pieces(ctx), "[-- COMMAND [ARGS]...]"]


def _split(args: list[str]) -> tuple[list[str], list[str]]:
    at = args.index("--") if "--" in args else len(args)
    return args[:at], args[at + 1 :]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewedServer:
    """A server's definitions beside the lock of a policy."""

    at: LockAt
    definitions: ServerDefinitions
    review: Review


def reviewed_server(command: Callable[..., None]) -> Callable[..., Any]:
    """Add the policy's path and the options that name a server; the command gets the comparison."""

    @functools.wraps(command)
    def named(
        *,
        path: Path,
        server: str,
        recording: Path | None,
        url: str | None,
        token_file: Path | None,
        variables: tuple[str, ...],
        timeout: float,
        wrapped: Path | None,
        **options: Any,
    ) -> None:
        given = click.get_current_context().meta.get(_COMMAND, ())
        named_server = NamedServer(
            name=server,
            command=given,
            url=url,
            token_file=token_file,
            variables=variables,
            timeout=timeout,
        )
        at = lock_at(path)
        try:
            with variables_from(wrapped):
                definitions = (
                    _asked(named_server, at)
                    if recording is None
                    else _recorded(named_server, recording)
                )
        except UnusableDefinitions as error:
            exit_with(f"server {visible(server, 80)}: {error}")
        found = review(compare(at.lock, definitions), known=_known_names(at.lock, server))
        command(ReviewedServer(at=at, definitions=definitions, review=found), **options)

    decorated: Callable[..., Any] = named
    for option in (
        click.option(
            "--recording",
            type=click.Path(exists=True, dir_okay=False, path_type=Path),
            help="Read the server's answers from this file instead: an object by method "
            "(`initialize`, `tools/list`, `prompts/list`), or the answer to tools/list.",
        ),
        wrapped_option,
        server_options,
        click.option(
            "--server",
            metavar="NAME",
            required=True,
            help="The server, by the name that rules call it: as the policy configures it, or the "
            "COMMAND after `--`.",
        ),
        path_argument,
    ):
        decorated = option(decorated)
    return decorated


def _asked(named: NamedServer, at: LockAt) -> ServerDefinitions:
    server = _server(named, at)
    from policy.mcp import McpFailure, ask_server, program_of

    try:
        told = ask_server(server, seconds=named.timeout)
    except McpFailure as error:
        exit_with(f"server {visible(named.name, 80)}: {error}{_help(error)}")
    for fault in told.faults.others:
        click.echo(f"note: server {visible(named.name, 80)}: {visible(fault, 300)}", err=True)
    return definitions_of(
        named.name,
        tools=told.tools,
        left_out=told.faults.left_out,
        prompts=told.prompts,
        instructions=told.instructions,
        program=program_of(server, told.version),
    )


def _help(error: McpFailure) -> str:
    """Return how to get at a variable of a wrapped client."""
    unset = f"`{VARIABLES}" in str(error) and "is not set" in str(error)
    return "; --wrapped FILE takes it from a client's file" if unset else ""


def _server(named: NamedServer, at: LockAt) -> McpServer:
    """Return the server that the command line describes, or else the one of the policy."""
    if named.command or named.url is not None:
        given = named.as_configured()
        return _in_sandbox_of(_servers(at).get(named.name), given)
    configured = _configured(named, at)
    if configured is None:
        return named.as_configured()
    require_client()
    return configured


def _in_sandbox_of(configured: McpServer | None, given: McpServer) -> McpServer:
    """Return a given server, in the sandbox and the folder that one of its name is configured with.

    Nobody has reviewed the command that is given, so it must not reach more than the other one.
    """
    theirs, own = None if configured is None else configured.transport, given.transport
    if not isinstance(theirs, StdioServer) or not isinstance(own, StdioServer):
        return given
    if theirs.reach is None:
        return given
    name = visible(given.name, 80)
    click.echo(f"note: the command runs in the sandbox of [mcp.servers.{name}]", err=True)
    return replace(given, transport=replace(own, reach=theirs.reach, folder=theirs.folder))


def _configured(server: NamedServer, at: LockAt) -> McpServer | None:
    """Return a server of the policy, None if it configures none at all; or end the command."""
    servers = _servers(at)
    if servers and server.name not in servers:
        help = did_you_mean(server.name, servers) or ("give its command after `--`, or --url")
        exit_with(f"no server {visible(server.name, 80)} is configured; {help}")
    return servers.get(server.name)


def _servers(at: LockAt) -> dict[str, McpServer]:
    """Return the servers that the policy configures, or end the command.

    The rules need not be valid: those that name the server's tools may wait for its pins.
    """
    found = configuration(read_folder(at.policy))
    if has_errors(found.diagnostics):
        shown = render(found.diagnostics, sources=found.sources, root=prefix(at.policy))
        click.echo(shown.rstrip("\n"), err=True)
        raise SystemExit(exit_code(found.diagnostics))
    return {one.name: one for one in found.settings.mcp_servers}


def _recorded(server: NamedServer, file: Path) -> ServerDefinitions:
    if server.command or server.url is not None:
        exit_with("--recording stands in place of a command after `--`, or of --url")
    try:
        with file.open("rb") as stream:
            content = stream.read(_LARGEST + 1)
    except OSError as error:
        exit_with(f"{file} cannot be read: {error.strerror or error}")
    value = read_plain_json(content)
    if isinstance(value, Unreadable):
        exit_with(f"{file} cannot be read as JSON: {value.reason}")
    return recorded_definitions(server.name, value)


def _known_names(lock: Lock, server: str) -> KnownNames:
    """Return the names of all tools that a tool of this server could be taken for."""
    from policy.daemon import agent_tools

    owners: dict[str, list[str]] = {}
    for spec in builtin_catalog().specs:
        owners.setdefault(spec.name, []).append("Placet itself")
    for alias in ALIASES:
        owners.setdefault(alias, []).append("Placet itself")
    for name, agents in agent_tools().items():
        owners.setdefault(name, []).append(agents)
    for other, pins in lock.servers.items():
        for name in pins.tools if other != server else ():
            owners.setdefault(name, []).append(f"server {other}")
    return KnownNames(owners={name: tuple(each) for name, each in owners.items()})

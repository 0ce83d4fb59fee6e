"""`placet catalog`: lists of tools, for commands and policies that know only the built-in ones."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import click

from policy.catalog import listing_entry, read_listing
from policy.cli.loading import counted, exit_with
from policy.cli.mcp_server import NamedServer, server_options
from policy.cli.python_tools import python_tools
from policy.diagnostics import visible


@click.group("catalog")
def command() -> None:
    """Write lists of tools, which `--catalog` and `[catalogue]` in placet.toml read."""


@command.command("export")
@click.argument("target", nargs=-1, metavar="MODULE:OBJECT... | -- COMMAND [ARGS]...")
@click.option(
    "--server",
    metavar="NAME",
    help="Ask an MCP server, whose tools rules call by this name: the COMMAND, or --url.",
)
@server_options
@click.option(
    "--output",
    "-o",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write to this file, once all is known, instead of standard output.",
)
def export(
    target: tuple[str, ...],
    *,
    server: str | None,
    url: str | None,
    token_file: Path | None,
    variables: tuple[str, ...],
    timeout: float,
    output: Path | None,
) -> None:
    """Write the tools of a Python program, or of a live MCP server, as a list that Placet reads.

    OBJECT is a tool of your own, or a list of them. A server's list contains what the server says
    of its tools: review it before you use it, since a list that you use counts as reviewed.

    \b
    Examples:
      placet catalog export shop:tools --output rules/tools.json
      placet catalog export --server git -- uvx mcp-server-git > git.json
      placet catalog export --server hub --url https://hub.example.com/mcp
    """
    if server is None:
        if url is not None or token_file is not None or variables:
            exit_with("--url, --token-file and --env need --server NAME")
        entries = _of_program(target)
    else:
        entries = _of_server(
            NamedServer(
                name=server,
                command=target,
                url=url,
                token_file=token_file,
                variables=variables,
                timeout=timeout,
            )
        )
    _write(entries, output)


def _of_program(targets: tuple[str, ...]) -> list[dict[str, Any]]:
    if not targets:
        exit_with("name the tools: MODULE:OBJECT, or --server NAME for those of an MCP server")
    try:
        entries = [listing_entry(handler.spec) for handler in python_tools(targets).handlers]
    except ValueError as error:
        exit_with(str(error))
    problems = read_listing(entries, reviewed=True).problems
    if problems:
        exit_with(f"these tools cannot be listed: {'; '.join(problems)}")
    return entries


def _of_server(server: NamedServer) -> list[dict[str, Any]]:
    configured, name = server.as_configured(), server.name
    from policy.mcp import McpFailure, list_server_tools

    try:
        told, faults = list_server_tools(configured, seconds=server.timeout)
    except McpFailure as error:
        exit_with(f"server {visible(name, 80)}: {error}")
    for fault in faults.others:
        click.echo(f"placet: server {visible(name, 80)}: {visible(fault, 300)}", err=True)
    for tool, why in faults.left_out.items():
        _say_left_out(f"`{visible(tool, 80)}`", name, visible(why, 300))
    usable = _usable([{"server": name, **entry} for entry in told], name)
    if not usable and (told or faults.left_out or faults.others):
        exit_with(f"server {visible(name, 80)}: none of its tools can be used")
    return usable


def _say_left_out(tool: str, server: str, why: str) -> None:
    click.echo(f"placet: left out tool {tool} of {visible(server, 80)}: {why}", err=True)


def _usable(entries: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    """Return the tools that a policy can use, and report each of the others."""
    kept: dict[str, dict[str, Any]] = {}
    for number, entry in enumerate(entries, start=1):
        listing = read_listing([entry], reviewed=True)
        called = listing.specs[0].name if listing.specs else ""
        why = listing.problems[0].partition(": ")[2] if listing.problems else ""
        if called in kept:
            why = f"`{visible(called, 80)}` is listed twice"
        if why:
            _say_left_out(str(number), name, why)
        else:
            kept[called] = entry
    return list(kept.values())


def _write(entries: list[dict[str, Any]], output: Path | None) -> None:
    entries = sorted(entries, key=lambda entry: (entry["name"], entry.get("version", 0)))
    text = json.dumps({"tools": entries}, indent=2)
    if output is None:
        click.echo(text)
        return
    # A policy that is being watched must never see half of a list.
    fresh = output.with_name(f".{output.name}.{os.getpid()}.tmp")
    try:
        fresh.write_text(f"{text}\n", "utf-8")
        os.replace(fresh, output)
    except OSError as error:
        fresh.unlink(missing_ok=True)
        exit_with(f"{output} cannot be written: {error.strerror or error}")
    click.echo(f"placet: {counted(len(entries), 'tool')} in {visible(str(output), 300)}", err=True)

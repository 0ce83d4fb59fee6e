"""`placet gateway --wrap FILE`."""

from __future__ import annotations

import os
import shlex
from collections.abc import Collection, Iterable
from pathlib import Path

import click

from policy.cli.loading import WRONG_POLICY, counted, exit_code, exit_with, prefix
from policy.cli.people_only import refuse_agents
from policy.cli.policy_file import folder_of, write_policy_file
from policy.cli.wrapping.client_file import ClientFile
from policy.cli.wrapping.gateway_entry import gateway_of, policy_of
from policy.cli.wrapping.moved_server import MovedServer
from policy.cli.wrapping.settings_block import HEADER, with_table
from policy.cli.wrapping.text_file import TextFile, text_file
from policy.cli.wrapping.wrapping import Moves, moved_from, moves_of, unwrapped, wrapped
from policy.diagnostics import did_you_mean, has_errors, render, visible
from policy.generation import SETTINGS_FILE, McpServer, configuration, read_folder, read_server


def run_wrap(path: Path, policy: Path, *, leave: Collection[str], dry_run: bool) -> None:
    """Move the servers of a client's file to the policy, with the gateway in their place."""
    refuse_agents("moving the servers of a client")
    file, place = text_file(path), os.path.abspath(policy)
    client = file.client()
    original, before = _original(file, client, place)
    for name in leave:
        if name not in original.servers:
            help = did_you_mean(name, original.servers)
            exit_with(f"{path} has no server {visible(name, 80)}{f'; {help}' if help else ''}")
    moves = moves_of(original, leave=leave)
    configured = _configured(policy)
    folder = folder_of(policy)
    problems = dict(moves.problems)
    new: list[MovedServer] = []
    for server in moves.servers:
        known = configured.get(server.name)
        if known is None:
            new.append(server)
        elif server.name not in before and known != read_server(
            server.name, server.table, root=folder
        ):
            problems[server.name] = (
                f"{prefix(policy)}{SETTINGS_FILE} has another server of its name"
            )
    _require_none(problems, path)
    try:
        result = wrapped(original, moves.servers, place) if moves.servers else client
    except ValueError as error:
        exit_with(f"{path} cannot be edited: {error}", code=1)
    if result.text == client.text and not new:
        click.echo(f"{path} is unchanged: there is no server to move")
        return
    _write(file, original, result, policy, new, dry_run=dry_run)
    _tell(path, policy, moves, new, dry_run=dry_run)


def _original(file: TextFile, client: ClientFile, place: str) -> tuple[ClientFile, set[str]]:
    """Return the file as it would be without the gateway, and which servers were behind that."""
    ours = gateway_of(client)
    if ours is None or not file.backup.exists():
        return client, set()
    named = policy_of(client.servers[ours])
    if named is not None and os.path.abspath(named) != place:
        exit_with(f"{file.path} is wrapped for the policy {visible(named, 300)} already")
    kept = TextFile(path=file.path, content=text_file(file.backup).content).client()
    before = {each.name for each in moved_from(client, kept)}
    try:
        return unwrapped(client, kept, place), before
    except ValueError as error:
        exit_with(f"{file.path} cannot be edited: {error}", code=1)


def _configured(policy: Path) -> dict[str, McpServer]:
    """Return the servers that the policy has, or end the command."""
    found = configuration(read_folder(policy))
    if has_errors(found.diagnostics):
        shown = render(found.diagnostics, sources=found.sources, root=prefix(policy))
        click.echo(shown.rstrip("\n"), err=True)
        raise SystemExit(exit_code(found.diagnostics))
    return {server.name: server for server in found.settings.mcp_servers}


def _require_none(problems: dict[str, str], path: Path) -> None:
    if not problems:
        return
    for name, why in problems.items():
        click.echo(f"placet: {visible(name, 80)}: {visible(why, 500)}", err=True)
    exit_with(
        f"{path} was not changed: correct these servers, or leave them beside the gateway, where "
        "no rule is asked, with --leave NAME",
        code=WRONG_POLICY,
    )


def _write(
    file: TextFile,
    original: ClientFile,
    result: ClientFile,
    policy: Path,
    new: Iterable[MovedServer],
    *,
    dry_run: bool,
) -> None:
    """Write the policy first: a server that is in both places is started twice, and not lost."""
    settings = os.path.join(folder_of(policy), SETTINGS_FILE)
    content = text_file(Path(settings)).content if os.path.exists(settings) else None
    try:
        text = HEADER if content is None else content.decode("utf-8")
        for server in new:
            text = with_table(text, server.name, server.table)
    except ValueError as error:
        exit_with(f"{settings} cannot be edited: {error}", code=1)
    if new:
        write_policy_file(policy, SETTINGS_FILE, text.encode(), before=content, dry_run=dry_run)
    if not dry_run:
        file.keep(original)
        file.replace(result)


def _tell(
    path: Path, policy: Path, moves: Moves, new: Iterable[MovedServer], *, dry_run: bool
) -> None:
    settings = f"{prefix(policy)}{SETTINGS_FILE}"
    for server in new:
        click.echo(with_table("", server.name, server.table), nl=False)
        click.echo()
    verb = "would move" if dry_run else "moved"
    names = ", ".join(visible(server.name, 80) for server in moves.servers)
    count = counted(len(moves.servers), "server")
    click.echo(f"{verb} {count} of {path} to {settings}: {names}")
    for server in moves.servers:
        if server.left_out:
            keys = visible(", ".join(server.left_out), 300)
            click.echo(f"note: {visible(server.name, 80)}: Placet has no {keys}", err=True)
    for name in moves.left:
        click.echo(f"note: {visible(name, 80)} stays: no rule is asked about it", err=True)
    project, folder = os.path.dirname(os.path.abspath(path)), folder_of(policy)
    if folder.startswith(os.path.join(project, "")):
        note = "note: the policy is in the client's folder, where programs that servers start could"
        click.echo(f"{note} change it: one elsewhere is safer", err=True)
    if dry_run:
        return
    shown = shlex.quote(str(policy))
    click.echo("next: review each of them, then restart the client")
    for server in new:
        wrapped = f" --wrapped {shlex.quote(str(path))}" if server.variables else ""
        click.echo(f"  placet pin accept {shown} --server {server.name}{wrapped}")

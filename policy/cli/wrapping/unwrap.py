"""`placet gateway --unwrap FILE`."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import click

from policy.cli.loading import exit_with, prefix
from policy.cli.people_only import refuse_agents
from policy.cli.policy_file import folder_of, write_policy_file
from policy.cli.wrapping.gateway_entry import gateway_of, policy_of
from policy.cli.wrapping.moved_server import MovedServer
from policy.cli.wrapping.settings_block import HEADER, without_table
from policy.cli.wrapping.text_file import TextFile, text_file
from policy.cli.wrapping.wrapping import moved_from, unwrapped
from policy.diagnostics import visible
from policy.generation import SETTINGS_FILE


def run_unwrap(path: Path, *, dry_run: bool) -> None:
    """Give a client its servers back, and take them out of the policy."""
    refuse_agents("moving the servers of a client")
    file = text_file(path)
    client = file.client()
    ours = gateway_of(client)
    policy = None if ours is None else policy_of(client.servers[ours])
    if policy is None:
        click.echo(f"{path} is unchanged: there is no gateway in it")
        return
    if not file.backup.exists():
        exit_with(
            f"{file.backup} is missing, which has the servers as they were: copy them from "
            f"{SETTINGS_FILE} of {visible(policy, 300)}",
            code=1,
        )
    original = TextFile(path=path, content=text_file(file.backup).content).client()
    servers = moved_from(client, original)
    try:
        result = unwrapped(client, original, policy)
    except ValueError as error:
        exit_with(f"{path} cannot be edited: {error}", code=1)
    names = ", ".join(visible(server.name, 80) for server in servers)
    if dry_run:
        click.echo(f"would give back to {path}: {names}")
        return
    file.replace(result)
    file.backup.unlink(missing_ok=True)
    click.echo(f"gave back to {path}: {names}")
    if os.path.exists(policy):
        _take_out(Path(policy), servers)


def _take_out(policy: Path, servers: Iterable[MovedServer]) -> None:
    """Remove the servers from the policy; those that were edited there since stay."""
    settings = Path(folder_of(policy), SETTINGS_FILE)
    if not settings.exists():
        return
    content = text_file(settings).content
    text = before = content.decode("utf-8", "surrogateescape")
    for server in reversed(tuple(servers)):
        smaller = without_table(text, server.name, server.table)
        if smaller is None:
            name = visible(server.name, 80)
            click.echo(f"note: {name} stays in {prefix(policy)}{SETTINGS_FILE}, as it was edited")
        else:
            text = smaller
    if text == HEADER:
        settings.unlink()
    elif text != before:
        after = text.encode("utf-8", "surrogateescape")
        write_policy_file(policy, SETTINGS_FILE, after, before=content)

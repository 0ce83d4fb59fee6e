"""`placet config`: shows and edits `placet.toml`; edits are checked first."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, TypeAlias

import click

from policy.cli.config_edit import refused, set_key, unset_key
from policy.cli.loading import WRONG_POLICY, exit_with
from policy.cli.options import format_option, path_argument
from policy.config_edit import read_configuration, value_of, write_key, write_value
from policy.diagnostics import visible
from policy.model import ConfigurationRefused, PolicyInvalid
from policy.values import Unreadable

Shape: TypeAlias = Literal["text", "json"]


@click.group("config")
def command() -> None:
    """Show and edit the configuration, `placet.toml`, of a policy.

    An edit is checked with the whole policy, including its tests, before anything is written;
    comments and order stay. Processes that watch the policy reload it by themselves.

    \b
    Examples:
      placet config set permissions.tools.code_exec ask
      placet config set 'permissions.tools."mcp github/*"' deny rules/
      placet config set service.bash.timeout 90s --dry-run
      placet config unset permissions.tools.code_exec
      placet config get permissions.tools.code_exec
      placet config show rules/
    """


@command.command("show")
@path_argument
@format_option
def show(path: Path, *, format: Shape) -> None:
    """Show every setting of `placet.toml`, one key a line."""
    table = _read(path)
    if format == "json":
        click.echo(json.dumps(table, default=str))
        return
    for line in _lines(table, ()):
        click.echo(line)


@command.command("get")
@click.argument("key")
@path_argument
@format_option
def get(key: str, path: Path, *, format: Shape) -> None:
    """Show the value of KEY; the exit status is 1 if it is not set."""
    try:
        value = value_of(path, key)
    except ConfigurationRefused as error:
        exit_with(error.message)
    except PolicyInvalid as error:
        refused(error, path)
    if value is None:
        exit_with(f"`{visible(key, 200)}` is not set", code=WRONG_POLICY)
    if format == "json":
        click.echo(json.dumps(value, default=str))
    elif isinstance(value, Mapping):
        for line in _lines(value, ()):
            click.echo(line)
    else:
        click.echo(_literal(value))


command.add_command(set_key)
command.add_command(unset_key)


def _read(path: Path) -> dict[str, Any]:
    try:
        return read_configuration(path)
    except PolicyInvalid as error:
        refused(error, path)


def _lines(table: Mapping[str, Any], above: tuple[str, ...]) -> Iterator[str]:
    for key, value in table.items():
        path = (*above, key)
        if isinstance(value, Mapping):
            yield from _lines(value, path)
        else:
            yield f"{visible(write_key(path), 1000)} = {_literal(value)}"


def _literal(value: Any) -> str:
    written = write_value(value)
    return visible(written.reason if isinstance(written, Unreadable) else written, 100_000)

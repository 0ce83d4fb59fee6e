"""`placet config set` and `unset`: edits one key, and shows the difference."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, NoReturn, TypeAlias

import click

from policy.audit import AuditFileUnfit, JsonlSink
from policy.catalog import Catalog
from policy.cli.fast_paths import fast_paths
from policy.cli.loading import exit_code, exit_with, prefix, read_catalog
from policy.cli.options import catalog_option, format_option, path_argument
from policy.cli.people_only import refuse_agents
from policy.cli.person import person_of
from policy.config_edit import Configured, Witness, configure, read_value
from policy.diagnostics import Diagnostic, render, visible
from policy.generation import SETTINGS_FILE as SETTINGS
from policy.generation import decode, read_folder, read_settings
from policy.model import Caller, ConfigurationRefused, PolicyInvalid, ToolError
from policy.service import Configurations, ExecAuditLayer, GuardCell
from policy.tools import ToolService
from policy.values import Unreadable

Shape: TypeAlias = Literal["text", "json"]
Edit: TypeAlias = Callable[..., Any]

_AGENT = "placet config"


def _options(command: Edit) -> Edit:
    for option in (
        format_option,
        click.option("--dry-run", is_flag=True, help="Check and show the edit; write nothing."),
        catalog_option,
        path_argument,
    ):
        command = option(command)
    return command


@click.command("set")
@click.argument("key")
@click.argument("value")
@_options
def set_key(
    key: str, value: str, path: Path, *, catalog_file: Path | None, dry_run: bool, format: Shape
) -> None:
    """Set KEY of the configuration at PATH to VALUE.

    KEY is dotted, as in TOML; a part with blanks or dots is quoted. VALUE is TOML, or a single
    word, which is a string. The exit status is 1 if the policy would be invalid.

    \b
    Examples:
      placet config set permissions.tools.code_exec ask
      placet config set permissions.tools.memory_* allow rules/
      placet config set permissions.filter.blocked '["bash", "web_*"]'
    """
    refuse_agents("changing the configuration")
    read = read_value(value)
    if isinstance(read, Unreadable):
        exit_with(read.reason)
    _edit(path, key, read, catalog=read_catalog(catalog_file), dry_run=dry_run, format=format)


@click.command("unset")
@click.argument("key")
@_options
def unset_key(
    key: str, path: Path, *, catalog_file: Path | None, dry_run: bool, format: Shape
) -> None:
    """Remove KEY from the configuration at PATH.

    \b
    Examples:
      placet config unset permissions.tools.code_exec
      placet config unset 'permissions.tools."mcp github/*"' rules/ --dry-run
    """
    refuse_agents("changing the configuration")
    _edit(path, key, None, catalog=read_catalog(catalog_file), dry_run=dry_run, format=format)


def _edit(
    path: Path, key: str, value: Any, *, catalog: Catalog, dry_run: bool, format: Shape
) -> None:
    """Make the edit as the service would, recorded in the configured audit file."""
    store = _Files(path, catalog)
    sink = None if dry_run else _sink(path)

    def recorded(inner: ToolService) -> ToolService:
        return ExecAuditLayer(inner, sink=sink)

    edits = Configurations(store, GuardCell(), recorded=recorded)
    caller = Caller(agent=_AGENT, user=person_of(None).id)
    try:
        made = asyncio.run(edits.edit(caller, key, value, dry_run=dry_run))
    except (ConfigurationRefused, ToolError) as error:
        exit_with(error.message)
    except PolicyInvalid as error:
        refused(error, path, format)
    result = (
        _as_json(made, dry_run=dry_run) if format == "json" else _text(made, path, dry_run=dry_run)
    )
    click.echo(result)


class _Files:
    """A policy on disk, edited as a store edits its own."""

    def __init__(self, path: Path, catalog: Catalog) -> None:
        self._path = path
        self._catalog = catalog
        self._builder = fast_paths().builder()

    def configure(
        self, key: str, value: Any, *, witness: Witness | None = None, dry_run: bool = False
    ) -> Configured:
        return configure(
            self._path,
            key,
            value,
            catalog=self._catalog,
            builder=self._builder,
            witness=witness,
            dry_run=dry_run,
        )


def audit_file(path: Path) -> str | None:
    """Return the audit file that is configured, if the configuration can be read."""
    snapshot = read_folder(path)
    file = snapshot.files.get(SETTINGS)
    source = None if file is None else decode(SETTINGS, file.content, drop_mark=True)[0]
    if source is None:
        return None
    audit = read_settings(source, root=snapshot.root)[0].service.audit
    return None if audit is None else str(audit)


def _sink(path: Path) -> JsonlSink | None:
    """Return the configured sink; end the command if it cannot be written."""
    audit = audit_file(path)
    if audit is None:
        return None
    try:
        sink = JsonlSink(audit)
        os.close(os.open(audit, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600))
    except AuditFileUnfit as error:
        exit_with(f"the edit cannot be recorded: {error}")
    except OSError as error:
        exit_with(f"the edit cannot be recorded in {audit}: {error.strerror or error}")
    return sink


def refused(error: PolicyInvalid, path: Path, format: Shape = "text") -> NoReturn:
    """End the command and show everything that is wrong."""
    wrong = [found for found in error.diagnostics if isinstance(found, Diagnostic)]
    shown = render(wrong, format, sources=error.sources, root=prefix(path))
    click.echo(shown.rstrip("\n"), err=format == "text")
    raise SystemExit(exit_code(wrong))


def _text(made: Configured, path: Path, *, dry_run: bool) -> str:
    lines = [visible(line, 2000) for line in _named(made.diff, path).splitlines()]
    digest = made.generation.id.digest
    if not made.diff:
        lines.append(f"nothing changes: {visible(made.key, 200)} already has this value")
    if made.looser:
        lines.append("looser: this edit may allow calls that were stopped")
    if made.diagnostics:
        shown = render(made.diagnostics, "text", sources=made.generation.sources, root=prefix(path))
        lines += shown.rstrip("\n").splitlines()
    lines.append(f"{'would be ' if dry_run else ''}generation {digest}")
    return "\n".join(lines)


def _named(diff: str, path: Path) -> str:
    """Return the diff with the file's name relative to the working directory."""
    for mark in ("---", "+++"):
        diff = diff.replace(f"{mark} {SETTINGS}", f"{mark} {prefix(path)}{SETTINGS}", 1)
    return diff


def _as_json(made: Configured, *, dry_run: bool) -> str:
    shown = json.loads(render(made.diagnostics, "json", sources=made.generation.sources, root=""))
    return json.dumps(
        {
            "key": made.key,
            "before": made.before,
            "after": made.after,
            "changed": made.changed,
            "dry_run": dry_run,
            "looser": made.looser,
            "old_digest": made.old_digest,
            "new_digest": made.new_digest,
            "generation": {"digest": made.generation.id.digest},
            "diff": made.diff,
            **shown,
        }
    )

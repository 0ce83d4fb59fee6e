"""Puts the hook into an agent's settings file, or takes it out: shown first, and with a backup."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Callable
from difflib import unified_diff
from pathlib import Path

import click

from policy.cli.agent_settings.entry import (
    gemini_can_ask,
    hook_command,
    hooks_are_off,
    with_hooks,
    without_hooks,
)
from policy.cli.agent_settings.json_text import read
from policy.cli.agent_settings.own_tools import notes_on_policy, tools_list
from policy.cli.loading import exit_with
from policy.cli.people_only import refuse_agents
from policy.config_edit import FileChanged, replace_file
from policy.daemon import SETTINGS_VARIABLES, agent_events, agent_settings

_EMPTY = "{}\n"
_BACKUP = ".before-placet"
_BOM = "\ufeff"


def run(options: Namespace) -> int:
    """Edit the settings file, or print what was asked for, and return the exit status."""
    event, settings, _ = agent_settings(options.agent)
    events = (event, *agent_events(options.agent))
    if options.tools:
        click.echo(tools_list(options.agent))
        return 0
    if options.install and options.uninstall:
        exit_with("give --install or --uninstall, not both")
    refuse_agents("changing the hooks of an agent")
    folder = os.environ.get(SETTINGS_VARIABLES.get(options.agent, ""))
    usual = os.path.join(folder, os.path.basename(settings)) if folder else settings
    file = Path(os.path.expanduser(options.settings or usual))
    if options.install:
        if not os.path.exists(options.policy):
            exit_with(f"there is no policy at {options.policy}: name one with --policy")
        if options.agent == "gemini-cli" and not options.deny_asks and not gemini_can_ask():
            options.deny_asks = True
            click.echo("note: this Gemini CLI is older than 0.36 or unknown, so asks are denied")
        telling = hook_command(options, tells=True)
        commands = dict.fromkeys(events, telling) | {event: hook_command(options)}
        status = _edit(
            file,
            lambda text: with_hooks(text, commands, options.agent),
            dry_run=options.dry_run,
            is_installing=True,
            is_first=lambda text: without_hooks(text, events, options.agent) == text,
        )
        if status == 0:
            for note in notes_on_policy(options.policy, options.agent):
                click.echo(note, err=True)
        if status == 0 and options.agent == "codex" and not options.dry_run:
            click.echo("next: open /hooks in Codex and trust the hook; until then it does not run")
        return status
    return _edit(
        file,
        lambda text: without_hooks(text, events, options.agent),
        dry_run=options.dry_run,
        is_installing=False,
    )


def _edit(
    file: Path,
    change: Callable[[str], str],
    *,
    dry_run: bool,
    is_installing: bool,
    is_first: Callable[[str], bool] = lambda text: False,
) -> int:
    """Change the file; what is there before the first change is kept as a backup."""
    before = _read(file)
    mark = _BOM if before is not None and before.startswith(_BOM) else ""
    body = _EMPTY if before is None else before.removeprefix(_BOM)
    try:
        edited = change(body)
        settings = read(edited).value
        after = mark + edited
        kept = before if before is not None and is_first(body) else None
    except ValueError as error:
        exit_with(f"{file} cannot be edited: {error}", code=1)
    if is_installing and hooks_are_off(body):
        click.echo(
            f"warning: `disableAllHooks` in {file} is true, so the hook does not run:"
            " set it to false, or remove it",
            err=True,
        )
    if after == before or (before is None and after == _EMPTY):
        click.echo(f"{file} is unchanged")
        return 0
    backup = file.with_name(file.name + _BACKUP)
    # Without a backup there was no file before the hook, so none stays behind.
    is_removed = not (is_installing or settings or backup.exists() or file.is_symlink())
    click.echo(_diff(before or "", "" if is_removed else after, file), nl=False)
    if dry_run:
        return 0
    file.parent.mkdir(parents=True, exist_ok=True)
    try:
        if is_removed:
            file.unlink()
            click.echo(f"removed {file}, which the installation had made")
            return 0
        if kept is not None:
            _save(backup, kept.encode(), mode=file.stat().st_mode)
        replace_file(str(file), after.encode(), before=None if before is None else before.encode())
    except FileChanged:
        exit_with(f"{file} was not changed: another program has just written it", code=1)
    except OSError as error:
        exit_with(f"{file} was not changed: {error}", code=1)
    click.echo(f"wrote {file}")
    return 0


def _save(backup: Path, content: bytes, *, mode: int) -> None:
    """Write a backup that is for the owner alone: settings can hold secrets."""
    backup.unlink(missing_ok=True)
    handle = os.open(backup, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode & 0o600)
    with open(handle, "wb") as file:
        file.write(content)


def _read(file: Path) -> str | None:
    try:
        # Not read_text, which translates line ends.
        return file.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        exit_with(f"{file} cannot be read: {error}")


def _diff(before: str, after: str, file: Path) -> str:
    lines = unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), str(file), str(file)
    )
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)

"""One file of a policy that a command writes, unless the policy would be invalid with it."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import click

from policy.catalog import builtin_catalog
from policy.cli.fast_paths import fast_paths
from policy.cli.loading import WRONG_POLICY, exit_with, prefix, show
from policy.config_edit import FileChanged, FolderBusy, exclusive_lock, replace_file
from policy.generation import LARGEST_FILE, read_folder, with_file


def folder_of(policy: Path) -> str:
    """Return the folder of a policy, which may be given as one file in it."""
    place = os.path.abspath(policy)
    return place if os.path.isdir(place) else os.path.dirname(place)


def write_policy_file(
    policy: Path, name: str, content: bytes, *, before: bytes | None, dry_run: bool = False
) -> None:
    """Replace `before`, or end the command: also if the rules are valid, and would not be then."""
    folder = folder_of(policy)
    shown = f"{prefix(policy)}{name}"
    if len(content) > LARGEST_FILE:
        exit_with(f"{shown} would have more than {LARGEST_FILE:,} bytes")
    try:
        with exclusive_lock(folder):
            _require_valid(policy, name, content)
            if not dry_run:
                replace_file(os.path.join(folder, name), content, before=before)
    except FolderBusy:
        exit_with("another edit of this policy is under way; try again")
    except FileChanged:
        exit_with(f"{shown} was changed meanwhile; nothing was written, try again")
    except OSError as error:
        exit_with(f"{shown} cannot be written: {error.strerror or error}")


def _require_valid(policy: Path, name: str, content: bytes) -> None:
    """End the command if the rules are valid now, and would not be with this content."""
    now, catalog, builder = datetime.now(UTC), builtin_catalog(), fast_paths().builder()
    snapshot = read_folder(policy)
    edited = with_file(snapshot, name, content)
    built = builder.build(edited, catalog=catalog, number=1, now=now)
    if built.generation is not None:
        return
    if builder.build(snapshot, catalog=catalog, number=1, now=now).generation is None:
        return  # as wrong before: the edit need not wait for the rules
    click.echo(show(built, policy), err=True)
    exit_with(f"nothing was written: with this {name} the policy is invalid", code=WRONG_POLICY)

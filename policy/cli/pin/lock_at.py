"""Reads and writes the lock of a policy."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import click

from policy.catalog import builtin_catalog
from policy.cli.fast_paths import fast_paths
from policy.cli.loading import WRONG_POLICY, exit_with, prefix, show
from policy.config_edit import FileChanged, FolderBusy, exclusive_lock, replace_file
from policy.generation import LARGEST_FILE, read_folder, with_file
from policy.pins import LOCK_FILE, Lock, read_lock, write_lock


@dataclass(frozen=True, slots=True, kw_only=True)
class LockAt:
    """The lock of a policy as it was read; `content` is None if there is no file."""

    policy: Path
    content: bytes | None
    lock: Lock

    @property
    def shown(self) -> str:
        """The name of the file, as the policy was named."""
        return f"{prefix(self.policy)}{LOCK_FILE}"

    def replace(self, lock: Lock) -> None:
        """Write another lock, unless the policy would be invalid with it; or end the command."""
        try:
            content = write_lock(lock)
        except ValueError as error:
            exit_with(f"{self.shown} cannot be written: {error}")
        if not isinstance(read_lock(content), Lock):
            exit_with(f"{self.shown} would not be readable with this; please report it")
        if len(content) > LARGEST_FILE:
            exit_with(f"{self.shown} would have more than {LARGEST_FILE:,} bytes")
        folder = _folder(self.policy)
        try:
            with exclusive_lock(folder):
                self._require_valid(content)
                replace_file(os.path.join(folder, LOCK_FILE), content, before=self.content)
        except FolderBusy:
            exit_with("another edit of this policy is under way; try again")
        except FileChanged:
            exit_with(f"{self.shown} was changed meanwhile; nothing was written, try again")
        except OSError as error:
            exit_with(f"{self.shown} cannot be written: {error.strerror or error}")

    def _require_valid(self, content: bytes) -> None:
        """End the command if the rules are valid now, and would not be with this content."""
        now, catalog, builder = datetime.now(UTC), builtin_catalog(), fast_paths().builder()
        snapshot = read_folder(self.policy)
        edited = with_file(snapshot, LOCK_FILE, content)
        built = builder.build(edited, catalog=catalog, number=1, now=now)
        if built.generation is not None:
            return
        if builder.build(snapshot, catalog=catalog, number=1, now=now).generation is None:
            return  # as wrong before: the lock need not wait for the rules
        click.echo(show(built, self.policy), err=True)
        exit_with("nothing was written: with this lock the policy is invalid", code=WRONG_POLICY)


def lock_at(policy: Path) -> LockAt:
    """Return the lock of a policy, an empty one if there is no file; or end the command."""
    file = os.path.join(_folder(policy), LOCK_FILE)
    try:
        with open(file, "rb") as stream:
            content = stream.read(LARGEST_FILE + 1)
    except FileNotFoundError:
        return LockAt(policy=policy, content=None, lock=Lock())
    except OSError as error:
        exit_with(f"{file} cannot be read: {error.strerror or error}")
    if len(content) > LARGEST_FILE:
        exit_with(f"{file} has more than {LARGEST_FILE:,} bytes")
    read = read_lock(content)
    if not isinstance(read, Lock):
        first = read[0]
        place = f"{first.place}: " if first.place else ""
        message = f"{file} cannot be used: {place}{first.message}; {first.help}"
        exit_with(message, code=WRONG_POLICY)
    return LockAt(policy=policy, content=content, lock=read)


def _folder(policy: Path) -> str:
    place = os.path.abspath(policy)
    return place if os.path.isdir(place) else os.path.dirname(place)

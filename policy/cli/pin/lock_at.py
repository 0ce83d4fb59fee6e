"""Reads and writes the lock of a policy."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from policy.catalog import LOCK_FILE
from policy.cli.loading import WRONG_POLICY, exit_with, prefix
from policy.cli.policy_file import folder_of, write_policy_file
from policy.generation import LARGEST_FILE
from policy.pins import Lock, read_lock, write_lock


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
        write_policy_file(self.policy, LOCK_FILE, content, before=self.content)


def lock_at(policy: Path) -> LockAt:
    """Return the lock of a policy, an empty one if there is no file; or end the command."""
    file = os.path.join(folder_of(policy), LOCK_FILE)
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

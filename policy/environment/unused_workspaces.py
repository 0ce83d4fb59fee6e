"""Removes the workspaces of sessions that have not been used for long.

When a session was last used is the time of a file beside its folder. The folder gets another name
first, under a lock that calls take, so that none begins in a folder that is being removed.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from secrets import token_hex
from typing import Any

NAME = re.compile(r"[0-9a-f]{32}")
# The ending of the file beside a workspace.
STAMP = ".used"
_REMOVED = ".removed-"
# The lock is held for a few system calls, or for the renames of one cleaning.
_TRIES, _PAUSE = 100, 0.01


@contextmanager
def locked(root: int, *, shared: bool) -> Iterator[None]:
    """Hold the lock of a folder of workspaces; raise OSError if others do for over a second."""
    kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    for attempt in range(_TRIES):
        try:
            fcntl.flock(root, kind | fcntl.LOCK_NB)
            break
        except BlockingIOError:
            if attempt + 1 == _TRIES:
                raise
            time.sleep(_PAUSE)
    try:
        yield
    finally:
        fcntl.flock(root, fcntl.LOCK_UN)


def remove_unused(root: int, *, before: float) -> list[str]:
    """Remove the workspaces last used before a time, in seconds; return what went wrong.

    `root` is the descriptor of their folder. Links are removed and not followed. Raises OSError.
    """
    with locked(root, shared=False):
        for name in filter(NAME.fullmatch, os.listdir(root)):
            if _last_used(name, root) < before:
                removed = f"{_REMOVED}{name}-{token_hex(8)}"
                os.rename(name, removed, src_dir_fd=root, dst_dir_fd=root)
                _remove_stamp(name, root)
    problems: list[str] = []
    for name in os.listdir(root):
        # Those that an earlier run has left, too.
        if name.startswith(_REMOVED):
            _remove(name, root, problems)
    return problems


def _last_used(name: str, root: int) -> float:
    try:
        return os.stat(f"{name}{STAMP}", dir_fd=root, follow_symlinks=False).st_mtime
    except FileNotFoundError:
        return os.stat(name, dir_fd=root, follow_symlinks=False).st_mtime


def _remove_stamp(name: str, root: int) -> None:
    with suppress(FileNotFoundError):
        os.unlink(f"{name}{STAMP}", dir_fd=root)


def _remove(name: str, root: int, problems: list[str]) -> None:
    def note(function: Any, path: str, raised: Any) -> None:
        error = raised[1]
        if not isinstance(error, FileNotFoundError):  # another process removes it, too
            problems.append(f"{path}: {error}")

    try:
        found = os.stat(name, dir_fd=root, follow_symlinks=False)
        if not stat.S_ISDIR(found.st_mode):
            os.unlink(name, dir_fd=root)
            return
    except OSError as error:
        note(os.unlink, name, (OSError, error))
        return
    shutil.rmtree(name, dir_fd=root, onerror=note)

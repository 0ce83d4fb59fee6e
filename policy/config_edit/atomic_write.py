"""Replaces a file as a whole: readers see the old content or the new, never half.

Writers that hold the folder wait for each other, in this process and in others. The new bytes stand
under another name, safe on the disk, before they take the place of the old ones.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress

PATIENCE = 10.0  # seconds that a writer waits for another one
_PAUSE = 0.01
_MODE = 0o644  # of a file that was not there; the process's mask counts too
_PRIVATE = 0o600  # until it has the rights of the one that it replaces


class FolderBusy(Exception):
    """Another writer has held the folder for all of the time that this one could wait."""


class FileChanged(Exception):
    """The file is not what it was when it was read."""


@contextmanager
def exclusive_lock(folder: str, *, patience: float = PATIENCE) -> Iterator[None]:
    """Keep other writers out of a folder for as long as the block runs; raises Busy."""
    # The folder itself is what is locked: no file is left behind in it.
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        _lock(handle, until=time.monotonic() + patience)
        yield
    finally:
        os.close(handle)


def _lock(handle: int, *, until: float) -> None:
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except OSError as error:
            if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
                raise
        if time.monotonic() > until:
            raise FolderBusy
        time.sleep(_PAUSE)


def replace_file(path: str, content: bytes, *, before: bytes | None) -> None:
    """Put `content` in the place of `before`, None where there was no file; raises Moved, OSError.

    A link stays a link, and what it leads to is replaced; access rights stay as they are.
    """
    target = os.path.realpath(path)
    folder = os.path.dirname(target)
    # A name that begins with a dot is none that a policy folder is read by.
    fresh = os.path.join(folder, f".placet-{uuid.uuid4().hex}.tmp")
    rights = _MODE if before is None else _PRIVATE
    handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, rights)
    try:
        with open(handle, "wb") as file:
            if before is not None:
                _like(file.fileno(), target)
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if _content(target) != before:
            raise FileChanged
        os.replace(fresh, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(fresh)
        raise
    _settle(folder)


def _content(path: str) -> bytes | None:
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None


def _like(handle: int, target: str) -> None:
    """Give the open file the rights of the one it replaces and, where possible, its owner."""
    old = os.stat(target)
    with suppress(PermissionError):
        os.fchown(handle, old.st_uid, old.st_gid)
    os.fchmod(handle, stat.S_IMODE(old.st_mode))


def _settle(folder: str) -> None:
    """Let the new name outlast a loss of power; not every file system can."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)

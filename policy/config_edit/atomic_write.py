"""Replaces a file as a whole: readers see the old content or the new, never half.

Writers lock the folder, in this process and in others. The new bytes are on the disk under another
name before they replace the old ones.
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
_MODE = 0o644  # of a new file, as the process's umask allows
_PRIVATE = 0o600  # until the file gets the permissions of the one that it replaces


class FolderBusy(Exception):
    """Another writer has kept the folder locked for as long as this one could wait."""


class FileChanged(Exception):
    """The file has changed since it was read."""


@contextmanager
def exclusive_lock(folder: str, *, patience: float = PATIENCE) -> Iterator[None]:
    """Lock a folder against other writers while the block runs; raises FolderBusy."""
    # The folder itself is locked, so that no lock file remains in it.
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
    """Replace `before` by `content`; None if there was no file. Raises FileChanged and OSError.

    A link stays a link, and its target is replaced; permissions stay as they are.
    """
    target = os.path.realpath(path)
    folder = os.path.dirname(target)
    # Files whose name begins with a dot are not read as part of a policy.
    fresh = os.path.join(folder, f".placet-{uuid.uuid4().hex}.tmp")
    rights = _MODE if before is None else _PRIVATE
    handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, rights)
    try:
        with open(handle, "wb") as file:
            if before is not None:
                _copy_permissions(file.fileno(), target)
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
    _sync_folder(folder)


def _content(path: str) -> bytes | None:
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None


def _copy_permissions(handle: int, target: str) -> None:
    """Give the open file the permissions of the one it replaces and, if possible, its owner."""
    old = os.stat(target)
    with suppress(PermissionError):
        os.fchown(handle, old.st_uid, old.st_gid)
    os.fchmod(handle, stat.S_IMODE(old.st_mode))


def _sync_folder(folder: str) -> None:
    """Write the new name to the disk, in case of a power failure; not every file system can."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)

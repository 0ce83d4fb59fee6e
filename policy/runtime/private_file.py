"""The file of a store: creates it with the right permissions, and notices if it is replaced."""

from __future__ import annotations

import os
import stat
from pathlib import Path

_OWNER_ONLY = 0o600
_GROUP_TOO = 0o660
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def make_file(path: Path) -> None:
    """Create the file and its folder, or restrict the permissions of a file that is there.

    Raises OSError if that fails.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    wanted = _mode_in(path.parent)
    try:
        _make_empty(path)
    except FileExistsError:
        # Not opened here: closing it again would drop the locks of this process on it.
        found = path.stat()
        mode = found.st_mode
        if not stat.S_ISREG(mode):
            raise OSError(0, "it is not a regular file") from None
        if found.st_uid != os.geteuid() and wanted == _OWNER_ONLY:
            # Its owner can write it, whatever its mode, also where this process is root.
            raise OSError(0, "it belongs to another user") from None
        if mode & _OTHERS & ~wanted:
            path.chmod(wanted)
        return
    if wanted != _OWNER_ONLY:
        path.chmod(wanted)


def identity_of(path: Path) -> tuple[int, int] | None:
    """Return the device and inode of a file; None if it cannot be seen."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _make_empty(path: Path) -> None:
    """Create an empty file, or raise FileExistsError.

    It gets its name after it is closed: closing a file drops every lock of this process on it,
    including those of a connection in another thread.
    """
    unnamed = path.with_name(f".{path.name}.{os.urandom(8).hex()}")
    os.close(os.open(unnamed, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _OWNER_ONLY))
    try:
        os.link(unnamed, path)
    finally:
        unnamed.unlink()


def _mode_in(folder: Path) -> int:
    """Return the mode of a store in a folder: for its owner only.

    In a setgid folder that its group may write, the group may use the store as well: then several
    people can answer, each in their own name.
    """
    mode = folder.stat().st_mode
    shared = mode & stat.S_ISGID and mode & stat.S_IWGRP and not mode & stat.S_IWOTH
    return _GROUP_TOO if shared else _OWNER_ONLY

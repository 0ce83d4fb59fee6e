"""The file of a store: made for those who may use it, and told from another of the same name."""

from __future__ import annotations

import os
import stat
from pathlib import Path

_OWNER_ONLY = 0o600
_GROUP_TOO = 0o660
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def make_file(path: Path) -> None:
    """Make the file and its folder, for those who may use it; a file that is there becomes so.

    Raises OSError where that cannot be.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    wanted = _mode_in(path.parent)
    try:
        _make_empty(path)
    except FileExistsError:
        # Not opened here: closing it again would drop the locks of this process on it.
        mode = path.stat().st_mode
        if not stat.S_ISREG(mode):
            raise OSError(0, "it is no file") from None
        if mode & _OTHERS & ~wanted:
            path.chmod(wanted)
        return
    if wanted != _OWNER_ONLY:
        path.chmod(wanted)


def identity_of(path: Path) -> tuple[int, int] | None:
    """Return which file a path names; None where there is none, or it cannot be seen."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _make_empty(path: Path) -> None:
    """Make an empty file under this name, or raise FileExistsError.

    It gets its name after it was closed: closing a file drops every lock that this process has on
    it, those of a connection in another thread as well.
    """
    unnamed = path.with_name(f".{path.name}.{os.urandom(8).hex()}")
    os.close(os.open(unnamed, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _OWNER_ONLY))
    try:
        os.link(unnamed, path)
    finally:
        unnamed.unlink()


def _mode_in(folder: Path) -> int:
    """Return who may use a store in a folder: its owner.

    Or the group of the folder, where that hands its group on (setgid) and lets it write: several
    people can only answer, each in their own name, if they share the file.
    """
    mode = folder.stat().st_mode
    shared = mode & stat.S_ISGID and mode & stat.S_IWGRP and not mode & stat.S_IWOTH
    return _GROUP_TOO if shared else _OWNER_ONLY

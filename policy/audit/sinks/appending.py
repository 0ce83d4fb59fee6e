"""Appends whole lines to a file that several processes append to."""

from __future__ import annotations

import fcntl
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_LOCK_SECONDS = 2.0
_PAUSE = 0.001
_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


class AuditFileUnfit(ValueError):
    """The path of an audit file names something that is not a regular file."""


def require_file(path: Path) -> None:
    """Raise AuditFileUnfit if `path` names, or links to, something other than a regular file.

    A pipe would make calls wait for its reader, a device does not keep what is written, and
    neither can be truncated again after half a line.
    """
    try:
        mode = path.stat().st_mode
    except OSError:
        return
    if not stat.S_ISREG(mode):
        raise AuditFileUnfit(f"the audit file {path} is {_kind(mode)}: name a regular file")


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePosition:
    """A position in a file, identified by device and inode, which stay when it is renamed."""

    device: int
    inode: int
    offset: int

    def is_in(self, other: os.stat_result) -> bool:
        """Return whether this is a position in that file."""
        return (self.device, self.inode) == (other.st_dev, other.st_ino)


class Appending:
    """A file that is open and locked for appending."""

    def __init__(self, handle: int) -> None:
        self._handle = handle
        self.status = os.fstat(handle)

    @property
    def end(self) -> FilePosition:
        """The position of the next line."""
        status = self.status
        return FilePosition(device=status.st_dev, inode=status.st_ino, offset=status.st_size)

    def append(self, lines: bytes, *, sync: bool) -> None:
        """Append whole lines with a single write; raise OSError, leaving none of it, if it fails.

        An incomplete line left by a crash is ended first, so that it does not corrupt the next.
        """
        size = self.status.st_size
        if size and os.pread(self._handle, 1, size - 1) != b"\n":
            lines = b"\n" + lines
        written = os.write(self._handle, lines)
        if written != len(lines):
            # A full disk may take a part. Nobody else appends meanwhile: the file is locked.
            os.ftruncate(self._handle, size)
            raise OSError(f"only {written} of {len(lines)} bytes of a record could be written")
        self.status = os.fstat(self._handle)
        if sync:
            os.fsync(self._handle)


@contextmanager
def appending(path: Path) -> Iterator[Appending]:
    """Open and lock the file at `path`, created with access for its owner only.

    It is opened for each append, so that after a rotation a new file is started.
    """
    until = time.monotonic() + _LOCK_SECONDS
    while True:
        # Non-blocking: opening a pipe that has taken the file's place would wait for a reader.
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
        handle = os.open(path, flags, 0o600)
        try:
            mode = os.fstat(handle).st_mode
            if not stat.S_ISREG(mode):
                raise OSError(f"the audit file is {_kind(mode)}")
            _lock(handle, until=until)
            if _is_at(path, handle):
                yield Appending(handle)
                return
            # The file was moved away while this process waited for the lock.
            _require_time(until)
        finally:
            os.close(handle)


def _lock(handle: int, *, until: float) -> None:
    """Wait a moment for other writers; raise OSError if the lock is still held."""
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            _require_time(until)
            time.sleep(_PAUSE)
        else:
            return


def _require_time(until: float) -> None:
    if time.monotonic() > until:
        raise OSError(f"the audit file could not be locked within {_LOCK_SECONDS:g} seconds")


def _is_at(path: Path, handle: int) -> bool:
    try:
        there = path.stat()
    except OSError:
        return False
    return os.path.samestat(there, os.fstat(handle))


def _kind(mode: int) -> str:
    return next((kind for is_kind, kind in _KINDS if is_kind(mode)), "not a regular file")

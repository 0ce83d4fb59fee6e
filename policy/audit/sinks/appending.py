"""Lines appended to a file that several processes append to: whole lines, whoever else writes."""

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
    """The path of an audit file names something that is no regular file."""


def require_file(path: Path) -> None:
    """Raise AuditFileUnfit where something else than a regular file is there, or linked from there.

    A pipe would make calls wait for whoever reads it, a device forgets, and neither can be
    shortened again where half a line was taken.
    """
    try:
        mode = path.stat().st_mode
    except OSError:
        return
    if not stat.S_ISREG(mode):
        raise AuditFileUnfit(f"the audit file {path} is {_kind(mode)}: name a regular file")


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePosition:
    """Where in which file on which disk; a file keeps its numbers when it is renamed."""

    device: int
    inode: int
    offset: int

    def is_in(self, other: os.stat_result) -> bool:
        """Tell whether this is in that file."""
        return (self.device, self.inode) == (other.st_dev, other.st_ino)


class Appending:
    """A file that is open and locked, to be appended to."""

    def __init__(self, handle: int) -> None:
        self._handle = handle
        self.status = os.fstat(handle)

    @property
    def end(self) -> FilePosition:
        """Where the next line goes."""
        status = self.status
        return FilePosition(device=status.st_dev, inode=status.st_ino, offset=status.st_size)

    def append(self, lines: bytes, *, sync: bool) -> None:
        """Append whole lines with a single write; raise OSError, leaving none of it, if it fails.

        Half a line that a crash left is ended first, so that it spoils no other.
        """
        size = self.status.st_size
        if size and os.pread(self._handle, 1, size - 1) != b"\n":
            lines = b"\n" + lines
        written = os.write(self._handle, lines)
        if written != len(lines):
            # A full disk takes a part. Nobody else appends meanwhile: the file is locked.
            os.ftruncate(self._handle, size)
            raise OSError(f"only {written} of {len(lines)} bytes of a record could be written")
        self.status = os.fstat(self._handle)
        if sync:
            os.fsync(self._handle)


@contextmanager
def appending(path: Path) -> Iterator[Appending]:
    """Open the file at `path`, made with access for its owner only, for nobody else meanwhile.

    Opened each time, so that one that was moved away by a rotation is begun anew.
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
            # It was moved away while it was waited for.
            _require_time(until)
        finally:
            os.close(handle)


def _lock(handle: int, *, until: float) -> None:
    """Wait a moment for others to have written; raise OSError where somebody holds the lock."""
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
    return next((kind for is_kind, kind in _KINDS if is_kind(mode)), "no regular file")

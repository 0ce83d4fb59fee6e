"""Markers of the processes that append to an audit file, so that others can end their calls.

Each has a marker in the folder `FILE.runs`: a small file that it keeps locked while it runs. A
marker that can be locked belongs to a process that has ended, even if its pid is in use again.
"""

from __future__ import annotations

import fcntl
import json
import logging
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from policy.audit.sink import RUNS
from policy.audit.sinks.appending import FilePosition

_LOG = logging.getLogger(__name__)
_LONGEST = 4096


class AppendingProcess:
    """This process as one of those that append to a file."""

    def __init__(self, audit: Path, begins: FilePosition) -> None:
        self.pid = os.getpid()
        # The lines of the calls that have started and not ended.
        self.running: dict[str, bytes] = {}
        self.begins = begins
        # Where this process's last line ended: a file that is now shorter was truncated.
        self.written = begins.offset
        self.id = uuid.uuid4().hex
        self._path: Path | None = None
        self._handle = -1
        try:
            self._path, self._handle = _locked_anew(markers_folder(audit))
        except PermissionError:
            # The file is writable, its folder is not: starts are recorded without a marker.
            _LOG.warning(
                "no folder %s: killed calls will not be closed", markers_folder(audit).name
            )
            return
        self.id = self._path.name
        self.begin_at(begins, sync=True)

    def begin_at(self, place: FilePosition, *, sync: bool = False) -> None:
        """Record that no line before `place` is needed to know which calls are running."""
        self.begins = place
        if self._path is None:
            return
        said = {
            "pid": self.pid,
            "device": place.device,
            "inode": place.inode,
            "offset": place.offset,
        }
        line = json.dumps(said).encode()
        os.pwrite(self._handle, line.ljust(256) + b"\n", 0)
        if sync:
            os.fsync(self._handle)
            _sync_folder(self._path.parent)

    def leave(self) -> None:
        """Remove the marker, unless calls are running; in a forked process, only forget it."""
        if self._path is None:
            return
        if os.getpid() == self.pid and not self.running:
            with suppress(OSError):
                os.unlink(self._path)
            with suppress(OSError):
                os.rmdir(self._path.parent)
        with suppress(OSError):
            os.close(self._handle)


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedProcess:
    """A process that has ended, and where its lines begin; None where that is not known."""

    run: str
    begins: FilePosition | None


def markers_folder(audit: Path) -> Path:
    """Return the folder of the markers of an audit file."""
    return audit.with_name(f"{audit.name}{RUNS}")


@contextmanager
def ended_processes(audit: Path) -> Iterator[list[EndedProcess]]:
    """Yield the processes that have ended, locked against others; then remove their markers.

    The markers stay if the block raises.
    """
    held: list[tuple[Path, int]] = []
    try:
        yield [_read(*each) for each in _taken(markers_folder(audit), held)]
        for path, _ in held:
            with suppress(OSError):
                os.unlink(path)
    finally:
        for _, handle in held:
            os.close(handle)


def _taken(folder: Path, held: list[tuple[Path, int]]) -> list[tuple[Path, int]]:
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return held
    for name in names:
        path = folder / name
        try:
            handle = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError:
            continue
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(handle)  # of a running process
            continue
        if os.fstat(handle).st_nlink == 0:
            os.close(handle)  # another process has ended its calls meanwhile
            continue
        held.append((path, handle))
    return held


def _read(path: Path, handle: int) -> EndedProcess:
    try:
        said: Any = json.loads(os.pread(handle, _LONGEST, 0))
        begins = FilePosition(
            device=int(said["device"]), inode=int(said["inode"]), offset=int(said["offset"])
        )
    except (ValueError, KeyError, TypeError):
        return EndedProcess(run=path.name, begins=None)
    return EndedProcess(run=path.name, begins=begins)


def _locked_anew(folder: Path) -> tuple[Path, int]:
    """Return the path and handle of a new file that this process has locked."""
    while True:
        folder.mkdir(mode=0o700, exist_ok=True)
        path = folder / uuid.uuid4().hex
        try:
            handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except FileNotFoundError:
            continue  # another process has just removed the folder
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)  # another process took it for the marker of an ended process
            continue
        if os.fstat(handle).st_nlink:
            return path, handle
        os.close(handle)


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)

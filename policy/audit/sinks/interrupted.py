"""Finds calls that started in a process that has ended, and have no end of their own."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from policy.audit.sinks.processes import EndedProcess


def interrupted(audit: Path, runs: Iterable[EndedProcess]) -> list[dict[str, Any]]:
    """Return the calls that began in one of these processes and never ended, oldest first."""
    known = {run.run for run in runs}
    begun: dict[str, dict[str, Any]] = {}
    for line in _lines(audit, runs):
        # Most lines are not read at all: only those that may be a start, or end one.
        if not begun and b'"event":"start"' not in line:
            continue
        told = _read(line)
        if told.get("event") != "start":
            # Its input may hold what looks like a start.
            begun.pop(str(told.get("id")), None)
        elif told.get("run") in known:
            begun.setdefault(str(told.get("id")), told)
    return list(begun.values())


def _lines(audit: Path, runs: Iterable[EndedProcess]) -> Iterator[bytes]:
    """Yield what these processes may have written, each file once, from the first of them on.

    A file that was renamed is found by its number. What came after it stands in the present one.
    """
    present = _status(audit)
    first: dict[tuple[int, int], int] = {}
    for run in runs:
        if run.begins is not None:
            file = (run.begins.device, run.begins.inode)
            first[file] = min(first.get(file, run.begins.offset), run.begins.offset)
    moved = {file: _named(audit.parent, file) for file in first if not _is(present, file)}
    for file, path in moved.items():
        if path is not None:
            yield from _from(path, first[file])
    if present is not None:
        # All of it, where a process wrote to an earlier one when it was last heard of.
        start = first.get((present.st_dev, present.st_ino), 0) if not moved else 0
        yield from _from(audit, start)


def _from(path: Path, offset: int) -> Iterator[bytes]:
    with path.open("rb") as file:
        if offset <= os.fstat(file.fileno()).st_size:
            file.seek(offset)
        yield from file


def _named(folder: Path, file: tuple[int, int]) -> Path | None:
    """Return the regular file in a folder that has these numbers."""
    with os.scandir(folder) as entries:
        for entry in entries:
            status = _status(Path(entry.path)) if entry.inode() == file[1] else None
            if _is(status, file):
                return Path(entry.path)
    return None


def _status(path: Path) -> os.stat_result | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status if stat.S_ISREG(status.st_mode) else None


def _is(status: os.stat_result | None, file: tuple[int, int]) -> bool:
    return status is not None and (status.st_dev, status.st_ino) == file


def _read(line: bytes) -> dict[str, Any]:
    try:
        read = json.loads(line)
    except ValueError:
        return {}  # half a line, left by a crash
    return read if isinstance(read, dict) else {}

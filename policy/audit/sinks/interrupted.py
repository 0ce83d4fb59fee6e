"""Finds calls that were interrupted: starts without an end in the lines of an ended process."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from policy.audit.sinks.processes import EndedProcess


def interrupted(audit: Path, runs: Iterable[EndedProcess]) -> list[dict[str, Any]]:
    """Return the calls that started in one of these processes and never ended, oldest first."""
    known = {run.run for run in runs}
    begun: dict[str, dict[str, Any]] = {}
    for line in _lines(audit, runs):
        # Most lines are not parsed: only those that may be a start, or the end of one.
        if not begun and b'"event":"start"' not in line:
            continue
        line_entry = _read(line)
        if line_entry.get("event") != "start":
            # Its input may contain text that looks like a start.
            begun.pop(str(line_entry.get("id")), None)
        elif line_entry.get("run") in known:
            begun.setdefault(str(line_entry.get("id")), line_entry)
    return list(begun.values())


def _lines(audit: Path, runs: Iterable[EndedProcess]) -> Iterator[bytes]:
    """Yield what these processes may have written, each file once, from their first line on.

    A renamed file is found by its inode. What came after it is in the present one.
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
        # All of it, where a process last recorded a position in an earlier file.
        start = first.get((present.st_dev, present.st_ino), 0) if not moved else 0
        yield from _from(audit, start)


def _from(path: Path, offset: int) -> Iterator[bytes]:
    with path.open("rb") as file:
        if offset <= os.fstat(file.fileno()).st_size:
            file.seek(offset)
        yield from file


def _named(folder: Path, file: tuple[int, int]) -> Path | None:
    """Return the regular file in a folder with this device and inode."""
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
        return {}  # an incomplete line, left by a crash
    return read if isinstance(read, dict) else {}

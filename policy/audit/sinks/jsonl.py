"""Appends records to a file, one line of JSON each, never an incomplete line."""

from __future__ import annotations

import os
import threading
import weakref
from datetime import UTC, datetime
from pathlib import Path

from policy.audit.record import AuditRecord, interrupted_line, record_line, start_line
from policy.audit.sinks.appending import Appending, appending, require_file
from policy.audit.sinks.interrupted import interrupted
from policy.audit.sinks.processes import AppendingProcess, ended_processes

# How much others have to read again, at most, to see which calls of this process were running.
_LOOK_BACK = 1 << 20


class JsonlSink:
    """Appends records to the file at `path`, created with access for its owner only.

    Several processes may append to one file. With `fsync` a record is on the disk before its call
    is answered, and so is its start where a record is required. Raises AuditFileUnfit if `path`
    is not a regular file.
    """

    def __init__(self, path: str | os.PathLike[str], *, fsync: bool = False) -> None:
        self.path = Path(path)
        require_file(self.path)
        self._fsync = fsync
        self._lock = threading.Lock()
        self._run: AppendingProcess | None = None

    def write(self, record: AuditRecord) -> None:
        """Append the end of a call; raise OSError, leaving no incomplete line, if that fails."""
        line = record_line(record)
        with self._lock, appending(self.path) as file:
            run = self._own_run()
            if run is None:
                file.append(line, sync=self._fsync)
                return
            self._append(file, run, line, sync=self._fsync)
            run.running.pop(record.id, None)
            if not run.running and file.end.offset - run.begins.offset > _LOOK_BACK:
                run.begin_at(file.end)

    def write_start(self, record: AuditRecord, *, durable: bool) -> None:
        """Append the start of a call, synced to the disk if it must be durable."""
        with self._lock, appending(self.path) as file:
            run = self._own_run()
            if run is None:
                run = self._run = AppendingProcess(self.path, file.end)
                weakref.finalize(self, run.leave)
            line = start_line(record, run.id)
            self._append(file, run, line, sync=durable or self._fsync)
            run.running[record.id] = line

    def close_interrupted(self) -> int:
        """Append the end of each call whose process has ended; return how many there were."""
        with self._lock, ended_processes(self.path) as runs:
            if not runs:
                return 0
            with appending(self.path) as file:
                calls, now = interrupted(self.path, runs), datetime.now(UTC)
                if calls:
                    ends = (interrupted_line(call, at=now) for call in calls)
                    file.append(b"".join(ends), sync=True)
            return len(calls)

    def _append(self, file: Appending, run: AppendingProcess, line: bytes, *, sync: bool) -> None:
        """Append a line; to a new file, the starts of running calls first."""
        end = file.end
        if run.begins.is_in(file.status) and run.written <= end.offset:
            file.append(line, sync=sync)
        else:
            file.append(b"".join((*run.running.values(), line)), sync=sync)
            run.begin_at(end)
        run.written = file.end.offset

    def _own_run(self) -> AppendingProcess | None:
        """Return this process's run; a forked process starts its own."""
        run = self._run
        if run is not None and run.pid != os.getpid():
            run.leave()
            self._run = run = None
        return run

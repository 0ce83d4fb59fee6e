"""Records appended to a file, one line of JSON each, never half a line."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

from policy.audit.record import AuditRecord, record_line


class JsonlSink:
    """Appends records to the file at `path`, made with access for its owner only.

    The file is opened for every record, so that one that was moved away by a rotation is begun
    anew. With `fsync` a record is on the disk before its call is answered.
    """

    def __init__(self, path: str | os.PathLike[str], *, fsync: bool = False) -> None:
        self.path = Path(path)
        self._fsync = fsync
        self._lock = threading.Lock()

    def write(self, record: AuditRecord) -> None:
        """Append one line with a single write; raise OSError, leaving no half line, if it fails."""
        line = record_line(record)
        with self._lock:
            handle = os.open(
                self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600
            )
            try:
                self._append(handle, line)
            finally:
                os.close(handle)

    def _append(self, handle: int, line: bytes) -> None:
        written = os.write(handle, line)
        if written != len(line):
            # A full disk takes part of a line. Only a regular file can be shortened again.
            if stat.S_ISREG(os.fstat(handle).st_mode):
                os.ftruncate(handle, os.fstat(handle).st_size - written)
            raise OSError(f"only {written} of {len(line)} bytes of a record could be written")
        if self._fsync:
            os.fsync(handle)

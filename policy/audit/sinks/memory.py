"""Keeps the newest records in memory."""

from __future__ import annotations

from collections import deque

from policy.audit.record import AuditRecord


class MemorySink:
    """Keeps the last `keep` records; for demonstrations, consoles and tests."""

    def __init__(self, *, keep: int = 10_000) -> None:
        self._records: deque[AuditRecord] = deque(maxlen=keep)

    def write(self, record: AuditRecord) -> None:
        """Store one record, dropping the oldest when full."""
        self._records.append(record)

    @property
    def records(self) -> tuple[AuditRecord, ...]:
        """The records kept, oldest first."""
        return tuple(self._records)

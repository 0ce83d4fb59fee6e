"""Records kept in memory, the newest ones."""

from __future__ import annotations

from collections import deque

from policy.audit.record import AuditRecord


class MemorySink:
    """Holds the last `keep` records; for demonstrations, consoles and tests."""

    def __init__(self, *, keep: int = 10_000) -> None:
        self._records: deque[AuditRecord] = deque(maxlen=keep)

    def write(self, record: AuditRecord) -> None:
        """Keep one record, forgetting the oldest when full."""
        self._records.append(record)

    @property
    def records(self) -> tuple[AuditRecord, ...]:
        """What is kept, oldest first."""
        return tuple(self._records)

"""Where records go: `AuditSink`."""

from __future__ import annotations

from typing import Protocol

from policy.audit.record import AuditRecord


class AuditSink(Protocol):
    """Takes records, one at a time, in the order in which calls end.

    `write` returns once the record is kept and raises if it could not be kept whole. It must not
    wait on anything but its own storage: it also runs while a call is being cancelled.
    """

    def write(self, record: AuditRecord) -> None:
        """Keep one record."""
        ...

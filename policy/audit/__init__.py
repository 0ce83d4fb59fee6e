"""Decision -> record: what is kept of every call, refused ones included, and where it goes."""

from __future__ import annotations

from policy.audit.bounded import bounded
from policy.audit.digest import digest_of, exact_digest_of
from policy.audit.record import (
    Approval,
    ApprovalResult,
    AuditRecord,
    Outcome,
    record_line,
)
from policy.audit.sink import RUNS, AuditSink, StartSink
from policy.audit.sinks import AuditFileUnfit, JsonlSink, MemorySink

__all__ = [
    "RUNS",
    "Approval",
    "ApprovalResult",
    "AuditFileUnfit",
    "AuditRecord",
    "AuditSink",
    "JsonlSink",
    "MemorySink",
    "Outcome",
    "StartSink",
    "bounded",
    "digest_of",
    "exact_digest_of",
    "record_line",
]

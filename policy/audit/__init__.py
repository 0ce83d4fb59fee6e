"""Audit records: what is kept of every call, including refused ones, and the sinks it goes to."""

from policy.audit.bounded_value import bounded
from policy.audit.digest import digest_of, exact_digest_of
from policy.audit.record import (
    Approval,
    ApprovalResult,
    AuditRecord,
    DeniedAccess,
    Outcome,
    ResultRedaction,
    record_line,
)
from policy.audit.sink import RUNS, AuditSink, StartSink
from policy.audit.sinks.appending import AuditFileUnfit
from policy.audit.sinks.jsonl import JsonlSink
from policy.audit.sinks.memory import MemorySink

__all__ = [
    "RUNS",
    "Approval",
    "ApprovalResult",
    "AuditFileUnfit",
    "AuditRecord",
    "AuditSink",
    "DeniedAccess",
    "JsonlSink",
    "MemorySink",
    "Outcome",
    "ResultRedaction",
    "StartSink",
    "bounded",
    "digest_of",
    "exact_digest_of",
    "record_line",
]

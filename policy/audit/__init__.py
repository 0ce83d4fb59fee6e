"""Decision -> record: what is kept of every call, refused ones included, and where it goes."""

from policy.audit.bounded import bounded
from policy.audit.digest import digest_of
from policy.audit.record import Approval, ApprovalResult, AuditRecord, Outcome, record_line
from policy.audit.sink import AuditSink
from policy.audit.sinks import JsonlSink, MemorySink

__all__ = [
    "Approval",
    "ApprovalResult",
    "AuditRecord",
    "AuditSink",
    "JsonlSink",
    "MemorySink",
    "Outcome",
    "bounded",
    "digest_of",
    "record_line",
]

"""Decision -> record: what is kept of every call, refused ones included, and where it goes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from policy.audit.bounded import bounded, whole
from policy.exports import exported

if TYPE_CHECKING:
    from policy.audit.digest import digest_of, exact_digest_of
    from policy.audit.record import (
        Approval,
        ApprovalResult,
        AuditRecord,
        Outcome,
        RecordDraft,
        record_line,
    )
    from policy.audit.sink import RUNS, AuditSink, StartSink
    from policy.audit.sinks import AuditFileUnfit, JsonlSink, MemorySink
else:
    __getattr__ = exported(
        __name__,
        {
            "digest": "digest_of exact_digest_of",
            "record": "Approval ApprovalResult AuditRecord Outcome RecordDraft record_line",
            "sink": "RUNS AuditSink StartSink",
            "sinks": "AuditFileUnfit JsonlSink MemorySink",
        },
    )

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
    "RecordDraft",
    "StartSink",
    "bounded",
    "digest_of",
    "exact_digest_of",
    "record_line",
    "whole",
]

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
    from policy.audit.sink import AuditSink
    from policy.audit.sinks import JsonlSink, MemorySink
else:
    __getattr__ = exported(
        __name__,
        {
            "digest": "digest_of exact_digest_of",
            "record": "Approval ApprovalResult AuditRecord Outcome RecordDraft record_line",
            "sink": "AuditSink",
            "sinks": "JsonlSink MemorySink",
        },
    )

__all__ = [
    "Approval",
    "ApprovalResult",
    "AuditRecord",
    "AuditSink",
    "JsonlSink",
    "MemorySink",
    "Outcome",
    "RecordDraft",
    "bounded",
    "digest_of",
    "exact_digest_of",
    "record_line",
    "whole",
]

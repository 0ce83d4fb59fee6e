"""The places records can go, one module each."""

from policy.audit.sinks.appending import AuditFileUnfit
from policy.audit.sinks.jsonl import JsonlSink
from policy.audit.sinks.memory import MemorySink

__all__ = ["AuditFileUnfit", "JsonlSink", "MemorySink"]

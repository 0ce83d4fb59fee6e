"""Records as a test writes them; processes of the tests import no more than this."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from policy.audit import AuditRecord
from policy.model import Caller, Verdict, freeze


def record(**more: Any) -> AuditRecord:
    given: dict[str, Any] = {
        "id": "1",
        "at": datetime(2026, 11, 21, 20, 0, tzinfo=UTC),
        "caller": Caller(agent="coder", parent=Caller(agent="root")),
        "asked_tool": "Echo",
        "tool": "echo",
        "input": freeze({"a": [1]}),
        "input_digest": "sha256:0",
        "final_input": freeze({"a": [1]}),
        "final_digest": "sha256:0",
        "verdict": Verdict.ALLOW,
        "outcome": "ok",
        "latency_ms": 3,
        **more,
    }
    return AuditRecord(**given)

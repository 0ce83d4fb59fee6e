"""Stand-ins at the seams of the tool service: a clock, a sink, an approver and a handler."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from policy.approvals import Approved, Denied, ScriptedApprover
from policy.audit import AuditRecord, MemorySink
from policy.catalog import Origin, ToolSpec
from policy.tools import ExecutionContext, ToolDefinition

__all__ = [
    "Approved",
    "BrokenSink",
    "CountingHandler",
    "Denied",
    "FakeClock",
    "MemorySink",
    "ScriptedApprover",
    "spec_of",
]


class FakeClock:
    """Stands still until it is moved."""

    def __init__(self, start: str = "2026-11-21T20:00:00+00:00") -> None:
        self.time = datetime.fromisoformat(start).astimezone(UTC)

    def __call__(self) -> datetime:
        return self.time

    def move(self, **by: float) -> None:
        self.time += timedelta(**by)


class BrokenSink:
    """Refuses records until `mended`."""

    def __init__(self) -> None:
        self.mended = False
        self.records: list[AuditRecord] = []

    def write(self, record: AuditRecord) -> None:
        if not self.mended:
            raise OSError("disk full")
        self.records.append(record)


def spec_of(name: str, **more: Any) -> ToolSpec:
    """Return the definition of a host tool that takes any object."""
    given: dict[str, Any] = {
        "schema": {"type": "object", "additionalProperties": True},
        "open_fields": True,
        "complete": True,
        "pinned": True,
        "origin": Origin(kind="host", tool=name),
        **more,
    }
    return ToolSpec(name=name, **given)


Body = Callable[[dict[str, Any], ExecutionContext], Awaitable[Any]]


class CountingHandler:
    """Keeps what it was called with and returns it, or does what `body` says."""

    def __init__(self, name: str = "echo", body: Body | None = None, **spec: Any) -> None:
        self._spec = spec_of(name, **spec)
        self._body = body
        self.inputs: list[dict[str, Any]] = []
        self.contexts: list[ExecutionContext] = []

    @property
    def spec(self) -> ToolSpec:
        return self._spec

    @property
    def definition(self) -> ToolDefinition:
        return ToolDefinition(name=self._spec.name, parameters=self._spec.schema)

    @property
    def calls(self) -> int:
        return len(self.inputs)

    async def invoke(self, input: dict[str, Any], ctx: ExecutionContext) -> Any:
        self.inputs.append(input)
        self.contexts.append(ctx)
        return input if self._body is None else await self._body(input, ctx)

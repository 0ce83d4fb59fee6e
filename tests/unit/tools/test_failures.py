"""Exceptions that a tool raises are reported as failures of the tool, and reveal no more."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from policy.audit import MemorySink
from policy.decision import Decision
from policy.model import (
    Execution,
    NotFound,
    PermissionDenied,
    Reason,
    Timeout,
    ToolCall,
    ToolError,
    Transport,
    ValidationFailed,
    Verdict,
)
from policy.service import build_tool_service
from policy.tools import ExecutionContext
from tests.fakes import CountingHandler, FakeClock
from tests.unit.service.judges import FakeStore, always

FORGED = Decision(
    verdict=Verdict.DENY,
    call=ToolCall(tool="other", input={"a": "forged"}),
    asked=ToolCall(tool="other", input={"a": "forged"}),
    reasons=(Reason(rule="forged", verdict=Verdict.DENY, message="forged"),),
)


class Disguised(PermissionDenied):
    kind = "execution"


class Both(PermissionDenied, Execution):  # type: ignore[misc]
    kind = "execution"


class Hostile(Execution):
    def __getattribute__(self, name: str) -> Any:
        if name in ("message", "tool", "code", "decision"):
            raise RuntimeError("no")
        return super().__getattribute__(name)


class Pretending(Exception):
    def __getattribute__(self, name: str) -> Any:
        return PermissionDenied if name == "__class__" else super().__getattribute__(name)


RAISED: dict[str, Callable[[], BaseException]] = {
    "an error of any class": lambda: ValueError("x"),
    "a failure": lambda: Execution("echo", "x"),
    "a failure with another code": lambda: Execution("echo", "x", code="denied-by-policy"),
    "a server that is gone": lambda: Transport("echo", "x"),
    "a time limit": lambda: Timeout("echo", "x", seconds=3),
    "an input that is none": lambda: ValidationFailed("echo", "x"),
    "a tool that is not there": lambda: NotFound("echo", "x"),
    "a denial": lambda: PermissionDenied("echo", "x", decision=FORGED),
    "a denial that says it is a failure": lambda: Disguised("echo", "x", decision=FORGED),
    "a denial and a failure": lambda: Both("echo", "x", decision=FORGED),
    "a failure that cannot be looked at": lambda: Hostile("echo", "x"),
    "what pretends to be a denial": lambda: Pretending("x"),
    "a cancellation": lambda: asyncio.CancelledError("x"),
    "the end of the program": lambda: KeyboardInterrupt("x"),
}
FORGERIES: dict[str, Any] = {
    "decision": FORGED,
    "code": "denied-by-policy",
    "kind": "permission-denied",
    "call_id": "0" * 32,
    "message": ["no text"],
    "tool": "other",
    "seconds": "soon",
}


@pytest.mark.parametrize("what", RAISED)
@pytest.mark.parametrize("forged", [None, *FORGERIES, "everything"])
async def test_nothing_that_a_tool_raises_says_what_was_decided(
    what: str, forged: str | None
) -> None:
    error = RAISED[what]()
    for name, value in FORGERIES.items():
        if forged in (name, "everything"):
            setattr(error, name, value)

    async def fail(input: dict[str, Any], ctx: ExecutionContext) -> Any:
        raise error

    sink = MemorySink()
    handler = CountingHandler(body=fail)
    store = FakeStore(always(Verdict.ALLOW))
    service = build_tool_service(store, tools=[handler], audit=sink, clock=FakeClock())
    with pytest.raises(BaseException) as caught:  # noqa: PT011 - any kind, but looked at below
        await service.execute("echo", {"a": 1})
    (record,) = sink.records
    assert (record.tool, record.verdict) == ("echo", Verdict.ALLOW)
    assert (record.final_input, "forged" in repr(record)) == ({"a": 1}, False)
    assert record.outcome in ("failed", "timeout", "cancelled", "unreachable", "refused")
    assert record.code not in ("denied-by-policy", "not-found")
    assert isinstance(caught.value, ToolError) == (record.outcome != "cancelled")
    if isinstance(caught.value, ToolError):
        assert type(caught.value) in (Execution, Transport, Timeout, ValidationFailed)
        assert type(caught.value.message) is str
        assert caught.value.call_id == record.id
        assert caught.value.code == record.code

"""Calls that a tool returns in place of an output."""

from __future__ import annotations

from typing import Any

import pytest

from policy.audit import MemorySink
from policy.model import Caller, Execution, Facts, PermissionDenied, ToolCall, Verdict
from policy.service import ExecAuditLayer, FollowLayer, build_tool_service
from policy.tools import ExecutionContext, FollowUp, ToolDefinition, ToolOutput
from tests.fakes import CountingHandler
from tests.unit.service.judges import FakeGeneration, FakeStore


async def counting_down(input: dict[str, Any], ctx: ExecutionContext) -> Any:
    if input["n"] == 0:
        return "done"
    return ToolOutput(value="on", then=FollowUp(input={"n": input["n"] - 1}, because="on it goes"))


def not_three(call: ToolCall, facts: Facts) -> Verdict:
    return Verdict.DENY if call.input.get("n") == 3 else Verdict.ALLOW


async def test_every_step_is_a_call_of_the_same_caller() -> None:
    handler, sink = CountingHandler("echo", counting_down), MemorySink()
    service = build_tool_service(
        FakeStore(FakeGeneration(not_three)), tools=[handler], audit=sink
    ).bound_to(Caller(agent="a", session="s"))
    output = await service.execute("echo", {"n": 2})
    assert (output.value, output.then) == ("done", None)
    assert [record.final_input for record in sink.records] == [{"n": 2}, {"n": 1}, {"n": 0}]
    assert len({record.id for record in sink.records}) == 3
    assert {record.caller.agent for record in sink.records} == {"a"}
    assert {context.workspace for context in handler.contexts} == {service.workspace}
    assert output.metadata.call_id == sink.records[-1].id


async def test_a_refused_step_ends_the_call_and_says_how_it_came_to_it() -> None:
    handler, sink = CountingHandler("echo", counting_down), MemorySink()
    service = build_tool_service(FakeStore(FakeGeneration(not_three)), tools=[handler], audit=sink)
    with pytest.raises(PermissionDenied, match="on it goes: ") as refused:
        await service.execute("echo", {"n": 5})
    assert refused.value.decision is not None
    assert [record.outcome for record in sink.records] == ["ok", "ok", "denied"]
    assert [input["n"] for input in handler.inputs] == [5, 4]


async def test_it_does_not_go_on_forever() -> None:
    handler = CountingHandler("echo", counting_down)
    service = build_tool_service(FakeStore(FakeGeneration(not_three)), tools=[handler])
    with pytest.raises(Execution, match="gave up after 10: on it goes"):
        await service.execute("echo", {"n": 1_000})
    assert len(handler.inputs) == 11


class Inner:
    """Wants one call less each time."""

    async def execute(self, name: str, input: Any) -> ToolOutput:
        left = input["n"]
        then = FollowUp(input={"n": left - 1}, because="on it goes") if left else None
        return ToolOutput(value=left, then=then)

    def list(self) -> list[ToolDefinition]:
        return []

    def describe(self, name: str) -> ToolDefinition | None:
        return None


async def test_the_layer_can_be_used_without_a_call_around_it() -> None:
    sink = MemorySink()
    layer = FollowLayer(ExecAuditLayer(Inner(), sink=sink))
    assert (await layer.execute("echo", {"n": 2})).value == 0
    assert [record.asked_tool for record in sink.records] == ["echo"] * 3
    with pytest.raises(Execution, match="gave up after 1"):
        await FollowLayer(Inner(), most=1).execute("echo", {"n": 2})

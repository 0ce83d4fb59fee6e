"""Events of calls: start and end are sent once, timed, logged and available as JSON."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from policy import Execution, PermissionDenied, PolicyStore, ToolError, build_tool_service
from policy.audit import AuditRecord, JsonlSink, MemorySink
from policy.service import GovernedService, ToolEnded, ToolEvent, event_json
from policy.tools import ExecutionContext, ToolOutput, ToolOutputMetadata, tool

RULES = """
policy for every agent

default deny

let-in: allow think, says, fails
"""


@tool
async def think(text: str, ctx: ExecutionContext) -> int:
    """Use tokens, in two goes."""
    ctx.report_tokens(30)
    await asyncio.to_thread(ctx.report_tokens, 12)
    return len(text)


@tool
async def fails(text: str, ctx: ExecutionContext) -> int:
    """Use tokens, and fail."""
    ctx.report_tokens(5)
    raise ValueError(text)


@tool
async def forbidden(text: str) -> int:
    """Count, if only one might."""
    return len(text)


class Says:
    """Gives the number of tokens with its output, and claims to come from elsewhere."""

    def __init__(self, tokens: Any) -> None:
        named = tool(name="says")(_says)
        self.spec, self.definition = named.spec, named.definition
        self._tokens = tokens

    async def invoke(self, input: dict[str, Any], ctx: ExecutionContext) -> ToolOutput:
        ctx.report_tokens(1)
        metadata = ToolOutputMetadata(tokens_used=self._tokens, source="mcp", tool="other")
        return ToolOutput(value=1, metadata=metadata)


def _says() -> int:
    """Say something."""
    return 1


@pytest.fixture
def serving(tmp_path: Path) -> Callable[..., GovernedService]:
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules/global.policy").write_text(RULES)

    def build(*tools: Any, audit: Any = None) -> GovernedService:
        store = PolicyStore(tmp_path / "rules")
        given = tools or (think, fails, forbidden)
        service = build_tool_service(store, tools=[*given, Says(7)], audit=audit)
        store.reload()
        return service

    return build


async def test_an_output_and_its_record_tell_latency_tokens_and_source(
    serving: Callable[..., GovernedService], tmp_path: Path
) -> None:
    service = serving(audit=JsonlSink(tmp_path / "audit.jsonl"))
    output = await service.execute("think", {"text": "abc"})
    assert (output.value, output.metadata.tokens_used, output.metadata.source) == (3, 42, "builtin")
    start, record = map(json.loads, (tmp_path / "audit.jsonl").read_text().splitlines())
    assert (start["event"], start["id"], record["event"]) == ("start", record["id"], "end")
    assert (record["tokens_used"], record["source"], record["code"]) == (42, "builtin", None)
    assert record["latency_ms"] == output.metadata.latency_ms


async def test_tokens_of_a_call_that_failed_are_recorded(
    serving: Callable[..., GovernedService],
) -> None:
    sink = MemorySink()
    service = serving(audit=sink)
    with pytest.raises(Execution):
        await service.execute("fails", {"text": "x"})
    assert (sink.records[0].tokens_used, sink.records[0].code) == (5, "execution")


@pytest.mark.parametrize(
    ("said", "kept"), [(7, 7), (0, 0), (None, 1), (-3, 1), (True, 1), ("9", 1)]
)
async def test_tokens_given_with_the_output_are_the_whole_and_nonsense_is_none(
    serving: Callable[..., GovernedService], said: Any, kept: int
) -> None:
    service = serving(think, fails, forbidden)
    handler = Says(said)
    entry = service.registry.snapshot()["says"]
    service.replace(entry, handler)
    output = await service.execute("says", {})
    assert output.metadata.tokens_used == kept
    # Where a tool comes from is the service's to say.
    assert (output.metadata.source, output.metadata.tool) == ("builtin", "says")


async def test_a_number_of_tokens_is_a_whole_number_and_not_negative() -> None:
    context = ExecutionContext()
    for nonsense in (-1, True, 1.5, "3"):
        with pytest.raises(ValueError, match="whole number"):
            context.report_tokens(nonsense)  # type: ignore[arg-type]
    assert context.usage.tokens is None


async def test_of_every_call_listeners_hear_its_start_and_its_end_once(
    serving: Callable[..., GovernedService],
) -> None:
    service, heard = serving(), list[ToolEvent]()
    service.subscribe(heard.append)

    def listens_badly(event: ToolEvent) -> None:
        raise asyncio.CancelledError

    service.subscribe(listens_badly)
    end = service.subscribe(heard.append)
    end()
    await service.execute("think", {"text": "secret"})
    with pytest.raises(PermissionDenied) as refused:
        await service.execute("forbidden", {"text": "secret"})
    shown = [event_json(event) for event in heard]
    assert [(one["event"], one["tool"]) for one in shown] == [
        ("stream.tool_start", "think"),
        ("stream.tool_end", "think"),
        ("stream.tool_start", "forbidden"),
        ("stream.tool_end", "forbidden"),
    ]
    assert shown[1].items() >= {"outcome": "ok", "code": None, "tokens_used": 42}.items()
    assert shown[3].items() >= {"outcome": "denied", "code": "not-allowed"}.items()
    assert shown[3]["source"] == "builtin"
    assert shown[2]["call_id"] == shown[3]["call_id"] == refused.value.call_id
    assert "secret" not in json.dumps(shown)


async def test_an_output_that_is_withheld_ends_in_a_failure(
    serving: Callable[..., GovernedService],
) -> None:
    class Full:
        def write(self, record: AuditRecord) -> None:
            raise OSError

    service, heard = serving(audit=Full()), list[ToolEvent]()
    # The first call only finds out that nothing can be written.
    service.subscribe(heard.append)
    with pytest.raises(Execution) as withheld:
        await service.execute("think", {"text": "a"})
    assert withheld.value.code == "output-withheld"
    end = heard[-1]
    assert isinstance(end, ToolEnded)
    assert (end.outcome, end.code, end.record.outcome) == ("failed", "output-withheld", "ok")


async def test_the_log_says_start_ok_and_err(
    serving: Callable[..., GovernedService], caplog: pytest.LogCaptureFixture
) -> None:
    service = serving()
    with caplog.at_level(logging.INFO, logger="tool.call"):
        await service.execute("think", {"text": "a"})
        with pytest.raises(PermissionDenied):
            await service.execute("forbidden", {"text": "a"})
    assert {record.name for record in caplog.records} == {"tool.call"}
    words = [line.split() for line in caplog.messages]
    assert [(line[0], line[1]) for line in words] == [
        ("start", "think"),
        ("ok", "think"),
        ("start", "forbidden"),
        ("err", "forbidden"),
    ]
    assert words[1][4:] == ["ms", "42", "tokens", "builtin"]
    assert words[3][-2:] == ["denied", "not-allowed"]


class Unreadable(Mapping[str, Any]):
    """An input that cannot be looked at."""

    def __getitem__(self, key: str) -> Any:
        raise RuntimeError

    def __iter__(self) -> Iterator[str]:
        raise RuntimeError

    def __len__(self) -> int:
        return 1


class Nameless:
    """A name that has no words."""

    def __str__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize(
    ("name", "input"),
    [("think", Unreadable()), ("think", {"text": Unreadable()}), (Nameless(), {"text": "a"})],
)
async def test_a_call_that_cannot_be_looked_at_is_refused_told_and_recorded_once(
    name: Any, input: Any, serving: Callable[..., GovernedService]
) -> None:
    sink, told = MemorySink(), list[ToolEvent]()
    service = serving(audit=sink)
    service.subscribe(told.append)
    with pytest.raises(ToolError):
        await service.execute(name, input)
    assert [event.name for event in told] == ["stream.tool_start", "stream.tool_end"]
    (record,) = sink.records
    assert record.outcome != "ok"
    assert record.cut or not isinstance(name, str)

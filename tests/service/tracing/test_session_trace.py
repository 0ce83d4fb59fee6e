"""A call as the events of its session, through the public façade and a real policy."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policy import PermissionDenied, PolicyStore, ValidationFailed, build_tool_service
from policy.audit import MemorySink
from policy.service import (
    Allow,
    GovernedService,
    SessionEvent,
    ToolCallDenied,
    ToolCallFailed,
    ToolCallRequested,
    ToolEnded,
    ToolEvent,
    ToolResult,
    current_session,
    invoke_with_session_trace,
)
from policy.tools import ExecutionContext, tool
from tests.examples import examples
from tests.waiting import skip_time

RULES = """
policy for every agent

default deny

let-in: allow whoami, waits
home:   deny waits when session.id == "closed" because "the session is closed"
"""


@tool
async def whoami(ctx: ExecutionContext) -> dict[str, str | None]:
    """Say which session calls."""
    return {"caller": ctx.caller.session, "scope": current_session()}


@tool
async def waits(turns: int, ctx: ExecutionContext) -> int:
    """Let the loop turn a few times."""
    for _ in range(turns):
        await asyncio.sleep(0)
    return turns


class Session:
    """Keeps events; `slow` makes it take its time for each."""

    def __init__(self, slow: Callable[[], Awaitable[object]] | None = None) -> None:
        self.events: list[SessionEvent] = []
        self._slow = slow

    async def emit(self, event: SessionEvent) -> None:
        if self._slow is not None:
            await self._slow()
        self.events.append(event)

    @property
    def names(self) -> list[str]:
        return [type(event).__name__ for event in self.events]


@pytest.fixture
def service(tmp_path: Path) -> GovernedService:
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules/global.policy").write_text(RULES)
    store = PolicyStore(tmp_path / "rules")
    built = build_tool_service(store, tools=[whoami, waits], audit=MemorySink())
    store.reload()
    return built


async def test_tools_and_rules_see_the_session_that_the_call_is_traced_for(
    service: GovernedService,
) -> None:
    session = Session()
    output = await invoke_with_session_trace(service, session, "whoami", {}, session="s-1")
    assert output.value == {"caller": "s-1", "scope": "s-1"}
    assert current_session() is None
    with pytest.raises(PermissionDenied):
        await invoke_with_session_trace(service, session, "waits", {"turns": 1}, session="closed")
    assert session.names == [
        "ToolCallRequested",
        "ToolResult",
        "ToolCallRequested",
        "ToolCallDenied",
    ]
    denied = session.events[-1]
    assert isinstance(denied, ToolCallDenied)
    assert (denied.code, denied.reason) == ("denied-by-policy", "the session is closed")
    assert denied.call_id is not None


async def test_what_is_no_call_fails_once(service: GovernedService) -> None:
    session = Session()
    with pytest.raises(ValidationFailed):
        await invoke_with_session_trace(service, session, "waits", {}, session="s")
    failed = session.events[-1]
    assert isinstance(failed, ToolCallFailed)
    assert (session.names[:-1], failed.kind, failed.code) == (
        ["ToolCallRequested"],
        "validation-failed",
        "validation-failed",
    )


async def test_a_session_that_fails_does_not_break_the_call(service: GovernedService) -> None:
    class Broken:
        told = 0

        def emit(self, event: SessionEvent) -> None:
            self.told += 1
            raise asyncio.CancelledError if self.told == 1 else RuntimeError

    session = Broken()
    output = await invoke_with_session_trace(service, session, "waits", {"turns": 1}, session="s")
    assert (output.value, session.told) == (1, 2)


@pytest.mark.parametrize("turns", range(1, 8))
async def test_a_session_that_hangs_is_told_the_end_of_a_cancelled_call_too(
    turns: int, service: GovernedService
) -> None:
    class Hangs:
        def __init__(self) -> None:
            self.names: list[str] = []

        async def emit(self, event: SessionEvent) -> None:
            self.names.append(type(event).__name__)
            if isinstance(event, ToolCallFailed):
                skip_time(100)
            await asyncio.Event().wait()

    session = Hangs()
    call = asyncio.create_task(
        invoke_with_session_trace(
            service, session, "waits", {"turns": 1}, session="s", emit_seconds=60
        )
    )
    for _ in range(turns):
        await asyncio.sleep(0)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert session.names == ["ToolCallRequested", "ToolCallFailed"]


async def test_a_session_that_hangs_is_given_up(service: GovernedService) -> None:
    begun: list[str] = []

    class Hangs:
        async def emit(self, event: SessionEvent) -> None:
            begun.append(type(event).__name__)
            await asyncio.Event().wait()

    output = await invoke_with_session_trace(
        service, Hangs(), "waits", {"turns": 1}, session="s", emit_seconds=0.01
    )
    assert (output.value, begun) == (1, ["ToolCallRequested", "ToolResult"])


@pytest.mark.parametrize("error", [SystemExit, KeyError])
async def test_whatever_a_service_raises_ends_the_call_once(error: type[BaseException]) -> None:
    class Raises:
        async def execute(self, name: str, input: Any) -> Any:
            raise error

        def list(self) -> list[Any]:
            return []

        def describe(self, name: str) -> None:
            return None

    session = Session()
    with pytest.raises(error):
        await invoke_with_session_trace(Raises(), session, "t", {}, session="s")
    assert session.names == ["ToolCallRequested", "ToolCallFailed"]


def test_a_call_that_is_thrown_away_ends_once(service: GovernedService) -> None:
    heard: list[str] = []

    class Plain:
        def emit(self, event: SessionEvent) -> None:
            heard.append(type(event).__name__)

    call = invoke_with_session_trace(service, Plain(), "waits", {"turns": 9}, session="s")
    with suppress(RuntimeError, StopIteration):
        call.send(None)
    call.close()
    assert heard == ["ToolCallRequested", "ToolCallFailed"]


@settings(max_examples=examples(60), deadline=None)
@given(turns=st.integers(0, 6), at=st.lists(st.integers(0, 30), min_size=1, max_size=3))
def test_cancelled_anywhere_a_call_ends_exactly_once(turns: int, at: list[int]) -> None:
    asyncio.run(_cancelled(turns, at))


async def _cancelled(turns: int, at: list[int]) -> None:
    async def slow() -> None:
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    session, sink, events = Session(slow), MemorySink(), list[ToolEvent]()
    service = build_tool_service(tools=[waits], audit=sink)
    service.set_smart_filter(_Everything())
    service.subscribe(events.append)
    task = asyncio.create_task(
        invoke_with_session_trace(service, session, "waits", {"turns": turns}, session="s")
    )
    for pause in at:
        for _ in range(pause):
            await asyncio.sleep(0)
        task.cancel()
    with suppress(asyncio.CancelledError):
        await task
    for _ in range(20):
        await asyncio.sleep(0)
    if not session.events:
        # Cancelled before its first step: nothing was ever asked.
        assert (sink.records, events) == ((), [])
        return
    assert isinstance(session.events[0], ToolCallRequested)
    (end,) = session.events[1:]
    # A call whose output is being told when it is cancelled did end in that output.
    assert isinstance(end, (ToolResult, ToolCallFailed))
    if not isinstance(end, ToolResult):
        assert end.code == "cancelled"
    assert len(sink.records) == sum(isinstance(event, ToolEnded) for event in events) <= 1
    assert len(events) == 2 * len(sink.records)


class _Everything:
    def classify(self, name: str, input: object) -> Allow:
        return Allow()


async def test_the_page_shows_a_session_that_works(service: GovernedService) -> None:
    page = (Path(__file__).parents[3] / "docs/tool-service.md").read_text()
    (block,) = [
        found for found in re.findall(r"```python\n(.*?)```", page, re.S) if "Transcript" in found
    ]
    names: dict[str, Any] = {}
    exec(block, names)
    transcript = names["Transcript"]()
    with pytest.raises(PermissionDenied):
        await names["traced"](service, transcript)
    assert [type(event) for event in transcript.events] == [ToolCallRequested, ToolCallDenied]

"""`OpenCalls`: for which call a server asks, and how often."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from policy.mcp.open_calls import ASKED_BY, Asker, NotAnswered, OpenCalls
from policy.model import PermissionDenied
from policy.tools import RunningTime, ToolDefinition, ToolOutput
from tests.waiting import skip_time, until


class Tools:
    """Answers each call with the server that it is made for, once it may."""

    def __init__(self) -> None:
        self.go = asyncio.Event()
        self.go.set()
        self.ended: list[str] = []

    async def execute(self, name: str, input: Any) -> ToolOutput:
        if input.get("server") == "refused":
            raise PermissionDenied(name, "a secret reason")
        try:
            await self.go.wait()
        except asyncio.CancelledError:
            self.ended.append(name)
            raise
        return ToolOutput(value=ASKED_BY.get())

    def list(self) -> list[ToolDefinition]:
        return []

    def describe(self, name: str) -> ToolDefinition | None:
        return None


def asker(tools: Tools, origin: str = "ada", time: RunningTime | None = None) -> Asker:
    return Asker(server="one", origin=origin, tools=tools, time=time)


async def test_a_call_is_made_for_the_server_that_asks() -> None:
    calls = OpenCalls()
    with calls.open(asker(Tools())):
        assert await calls.ask("mcp_elicit", {}) == "one"
        assert ASKED_BY.get() is None
    with pytest.raises(NotAnswered, match="no call is running"):
        await calls.ask("mcp_elicit", {})


async def test_a_server_does_not_hear_what_the_rules_say() -> None:
    calls = OpenCalls()
    with calls.open(asker(Tools())), pytest.raises(NotAnswered) as caught:
        await calls.ask("mcp_elicit", {"server": "refused"})
    assert str(caught.value) == "refused for the client's user (denied-by-policy)"


async def test_a_call_asks_twenty_times() -> None:
    calls, tools = OpenCalls(), Tools()
    with calls.open(asker(tools)):
        for _ in range(20):
            await calls.ask("mcp_elicit", {})
        with pytest.raises(NotAnswered, match="at most 20"):
            await calls.ask("mcp_elicit", {})
        with calls.open(asker(tools)):
            await calls.ask("mcp_elicit", {})


async def test_calls_of_two_clients_are_not_told_apart() -> None:
    calls, tools = OpenCalls(), Tools()
    with calls.open(asker(tools)):
        with calls.open(asker(tools, origin="bob")), pytest.raises(NotAnswered, match="whose"):
            await calls.ask("mcp_elicit", {})
        with calls.open(None):  # a call that nobody can be asked about
            assert await calls.ask("mcp_elicit", {}) == "one"


async def test_a_question_ends_with_its_call() -> None:
    calls, tools = OpenCalls(), Tools()
    tools.go.clear()
    with calls.open(asker(tools)):
        asking = asyncio.create_task(calls.ask("mcp_elicit", {}))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
    with pytest.raises(NotAnswered, match="has ended"):
        await asking
    assert tools.ended == ["mcp_elicit"]


async def test_the_time_of_a_call_stands_still_while_it_asks() -> None:
    calls, tools = OpenCalls(), Tools()
    tools.go.clear()
    async with asyncio.timeout(60) as limit:
        with calls.open(asker(tools, time=RunningTime(limit))):
            both = [asyncio.create_task(calls.ask("mcp_elicit", {})) for _ in range(2)]
            await until(lambda: limit.when() is None)
            skip_time(100)
            await asyncio.sleep(0)
            assert limit.when() is None
            tools.go.set()
            assert await asyncio.gather(*both) == ["one", "one"]
            assert limit.when() is not None

"""`placet gateway`: MCP servers behind the policy, for clients of both revisions."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal, TypeAlias

import pytest
from mcp import Client, MCPError
from mcp.types import CallToolRequest, CallToolRequestParams, ToolListChangedNotification
from pydantic import RootModel

from tests.mcp_servers.modern import Modern, modern_server
from tests.unit.cli.gateways import LISTED, Era, Gateway, gateway, scripted_server
from tests.waiting import until

_NOT_ENDED = "the call has not ended; it may wait for an approval"
Upstream: TypeAlias = Literal["handshake", "stateless"]
# Every revision of a client before every revision of a server.
# Each revision is on each side in two of them already.
COMBINATIONS = [
    ("auto", "handshake"),
    ("legacy", "stateless"),
    pytest.param("auto", "stateless", marks=pytest.mark.long),
    pytest.param("legacy", "handshake", marks=pytest.mark.long),
]
RULES = 'allow mcp one/*\ndeny one__note because "no notes"\n'


class Raw(RootModel[dict[str, Any]]):
    """A result as it was sent."""


async def raw_call(client: Client, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    params = CallToolRequestParams(name=name, arguments=arguments)
    return (await client.session.send_request(CallToolRequest(params=params), Raw)).root


@asynccontextmanager
async def before(
    upstream: Upstream, folder: Path, rules: str = RULES, settings: str = LISTED, **keys: Any
) -> AsyncIterator[tuple[Gateway, Modern]]:
    """Run a gateway before a server of one revision."""
    modern = Modern()
    if upstream == "handshake":
        table = scripted_server(folder, **keys)
        async with gateway(folder, rules, settings + table) as g:
            yield g, modern
        return
    async with modern_server(modern) as url:
        table = f'[mcp.servers.one]\nurl = "{url}"\n'
        async with gateway(folder, rules, settings + table) as g:
            yield g, modern


def texts(result: Any) -> list[str]:
    return [block.text for block in result.content]


async def names_of(client: Client) -> set[str]:
    return {tool.name for tool in (await client.list_tools()).tools}


@pytest.mark.parametrize(("era", "upstream"), COMBINATIONS)
async def test_tools_are_listed_called_hidden_and_refused(
    tmp_path: Path, era: Era, upstream: Upstream
) -> None:
    async with before(upstream, tmp_path) as (g, modern), g.client(era) as client:
        names = await names_of(client)
        assert {"one__echo", "one__steps"} <= names
        assert "one__note" not in names
        result = await raw_call(client, "one__echo", {"text": "hi"})
        assert result["content"][0]["text"] == "hi"
        assert result["_meta"]["example.com/vendor"] == {"kept": True}
        assert result["_meta"]["placet"]["verdict"] == "allow"
        if upstream == "handshake":
            assert result["content"][0]["vendorKey"] == result["vendorKey"] == "kept"
        refused = await client.call_tool("one__note", {"text": "x"})
        assert refused.is_error
        assert "no notes" in texts(refused)[0]
        failed = await client.call_tool("one__fails", {})
        assert failed.is_error
        assert texts(failed) == ["no such file"]
        called = [name for name, _ in modern.calls] or [c.split()[0] for c in g.calls()]
        assert called == ["echo", "fails"]
        assert [record["outcome"] for record in g.records()] == ["ok", "denied", "failed"]


@pytest.mark.parametrize(("era", "upstream"), COMBINATIONS)
async def test_progress_of_a_server_reaches_its_caller_alone(
    tmp_path: Path, era: Era, upstream: Upstream
) -> None:
    heard: dict[str, list[tuple[float, float | None, str | None]]] = {"a": [], "b": []}

    def hear(who: str) -> Any:
        async def note(progress: float, total: float | None, message: str | None) -> None:
            if message != _NOT_ENDED:  # as on a machine that is busy
                heard[who].append((progress, total, message))

        return note

    async with before(upstream, tmp_path) as (g, _), g.client(era) as a, g.client(era) as b:
        await a.call_tool("one__steps", {}, progress_callback=hear("a"))
        await b.call_tool("one__echo", {"text": "x"}, progress_callback=hear("b"))
        await until(lambda: len(heard["a"]) == 3)
    first = heard["a"][0][0] - 1
    assert heard["a"] == [(first + n, first + 3, f"step {n}") for n in (1, 2, 3)]
    assert heard["b"] == []


@pytest.mark.parametrize(("era", "upstream"), COMBINATIONS)
async def test_a_cancelled_call_is_cancelled_at_the_server(
    tmp_path: Path, era: Era, upstream: Upstream
) -> None:
    async with before(upstream, tmp_path) as (g, modern), g.client(era) as client:
        waiting = asyncio.create_task(client.call_tool("one__waits", {}))
        note = tmp_path / "calls"
        await until(lambda: bool(modern.calls) or note.exists())
        waiting.cancel()
        await asyncio.wait({waiting})
        await until(lambda: bool(modern.cancelled) or (tmp_path / "cancelled").exists())
        await until(lambda: [r["outcome"] for r in g.records()] == ["cancelled"])


@pytest.mark.parametrize(("era", "upstream"), COMBINATIONS)
async def test_a_changed_list_is_announced_to_clients(
    tmp_path: Path, era: Era, upstream: Upstream
) -> None:
    changed = asyncio.Event()

    async def hear(message: Any) -> None:
        if isinstance(message, ToolListChangedNotification):
            changed.set()

    async with (
        before(upstream, tmp_path, isolation="shared") as (g, modern),
        g.client(era, message_handler=hear) as client,
        _listening(client, era, changed),
    ):
        assert "one__grown" not in await names_of(client)
        if upstream == "stateless":
            await modern.grow()
        else:
            await client.call_tool("one__grow", {})
        while "one__grown" not in await names_of(client):
            await changed.wait()
            changed.clear()


@asynccontextmanager
async def _listening(client: Client, era: Era, changed: asyncio.Event) -> AsyncIterator[None]:
    """Hear of changes: without a handshake a client subscribes to them."""
    listening = asyncio.create_task(_listen(client, changed)) if era == "auto" else None
    yield
    if listening is not None:
        listening.cancel()
        await asyncio.gather(listening, return_exceptions=True)


async def _listen(client: Client, changed: asyncio.Event) -> None:
    async with client.listen(tools_list_changed=True) as events:
        async for _ in events:
            changed.set()


def states(results: list[Any]) -> list[Any]:
    return [result.structured_content["notes"] for result in results]


async def test_each_connection_has_a_session_of_its_own_with_a_server(tmp_path: Path) -> None:
    rules = "allow mcp one/*\n"
    async with before("handshake", tmp_path, rules) as (g, _):
        async with g.client("legacy") as a, g.client("legacy") as b:
            await a.call_tool("one__note", {"text": "of a"})
            await b.call_tool("one__note", {"text": "of b"})
            found = [await one.call_tool("one__state", {}) for one in (a, b)]
            pids = {result.structured_content["pid"] for result in found}
            assert states(found) == [["of a"], ["of b"]]
        assert len({record["caller"]["session"] for record in g.records()}) == 2
        # Their sessions have ended, so nobody uses these processes any more.
        await until(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in pids))


async def test_requests_that_stand_for_themselves_share_the_session_of_their_caller(
    tmp_path: Path,
) -> None:
    rules = "allow mcp one/*\n"
    async with before("handshake", tmp_path, rules) as (g, _), g.client() as a, g.client() as b:
        await a.call_tool("one__note", {"text": "of a"})
        found = await b.call_tool("one__state", {})
        assert states([found]) == [["of a"]]


async def test_a_configured_session_is_that_of_all_connections(tmp_path: Path) -> None:
    settings = LISTED + '[serve]\nsession = "all"\nagent = "coder"\n'
    async with before("handshake", tmp_path, "allow mcp one/*\n", settings) as (g, _):
        async with g.client("legacy") as a, g.client("legacy") as b:
            await a.call_tool("one__note", {"text": "of a"})
            assert states([await b.call_tool("one__state", {})]) == [["of a"]]
        assert {(r["caller"]["agent"], r["caller"]["session"]) for r in g.records()} == {
            ("coder", "all")
        }


async def test_a_server_that_cannot_start_keeps_no_other_from_serving(tmp_path: Path) -> None:
    settings = LISTED + scripted_server(tmp_path) + '[mcp.servers.gone]\ncommand = "/nowhere"\n'
    async with gateway(tmp_path, RULES, settings) as g, g.client() as client:
        assert "one__echo" in await names_of(client)
        assert not (await client.call_tool("one__echo", {"text": "hi"})).is_error


async def test_a_server_that_dies_in_a_call_serves_the_next_one(tmp_path: Path) -> None:
    async with before("handshake", tmp_path) as (g, _), g.client() as client:
        died = await client.call_tool("one__dies", {})
        assert died.is_error
        assert "the call may have run" in texts(died)[0]
        assert texts(await client.call_tool("one__echo", {"text": "hi"})) == ["hi"]
    assert g.calls().count("dies {}") == 1


async def test_an_edit_adds_and_removes_servers(tmp_path: Path) -> None:
    settings = LISTED + scripted_server(tmp_path)
    async with gateway(tmp_path, RULES, settings) as g, g.client() as client:
        assert "one__echo" in await names_of(client)
        second = scripted_server(tmp_path, name="two")
        (tmp_path / "rules" / "placet.toml").write_text(LISTED + second, "utf-8")

        async def is_gone() -> bool:
            return not await names_of(client)

        await until(is_gone)
        (tmp_path / "rules" / "placet.toml").write_text(settings, "utf-8")

        async def is_there() -> bool:
            return "one__echo" in await names_of(client)

        await until(is_there)


async def test_without_a_policy_in_force_all_is_denied_until_there_is_one(tmp_path: Path) -> None:
    settings = LISTED + scripted_server(tmp_path)
    async with gateway(tmp_path, "allow mcp one/* wrong\n", settings) as g, g.client() as client:
        assert await names_of(client) == set()
        refused = await client.call_tool("one__echo", {"text": "hi"})
        assert refused.is_error
        policy = tmp_path / "rules" / "global.policy"
        policy.write_text("policy for every agent\n\ndefault deny\n\nallow mcp one/*\n", "utf-8")

        async def is_served() -> bool:
            return not (await client.call_tool("one__echo", {"text": "hi"})).is_error

        await until(is_served)


async def test_a_client_without_the_token_is_served_nothing(tmp_path: Path) -> None:
    async with before("handshake", tmp_path) as (g, _):
        with pytest.raises(BaseExceptionGroup):
            async with g.client(token="another-token-of-length") as client:
                await client.list_tools()
    assert not (tmp_path / "audit.jsonl").exists() or not g.records()


async def test_a_tool_of_a_server_that_was_never_reached_is_not_unknown_for_good(
    tmp_path: Path,
) -> None:
    settings = '[mcp.servers.one]\ncommand = "/nonexistent/server"\n'
    async with gateway(tmp_path, "allow mcp one/*\n", settings) as g, g.client() as client:
        for name, known in (("one__echo", True), ("two__echo", False), ("one_echo", False)):
            result = await client.call_tool(name, {"text": "hi"})
            assert result.is_error
            assert "not-found" in texts(result)[0]
            assert ("`one` could not be asked for its tools yet" in texts(result)[0]) is known
        assert [record["code"] for record in g.records()] == ["not-found"] * 3


@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_a_message_of_too_many_values_is_refused_at_once(tmp_path: Path, era: Era) -> None:
    async with before("handshake", tmp_path) as (g, _), g.client(era) as client:
        values = [0] * 20_001
        with pytest.raises(MCPError, match="more values than are read"):
            await client.call_tool("one__echo", {"text": "hi", "more": values})
        assert not (await client.call_tool("one__echo", {"text": "a, " * 200_000})).is_error
        assert [one["tool"] for one in g.records()] == ["one__echo"]

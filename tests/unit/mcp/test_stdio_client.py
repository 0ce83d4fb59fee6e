"""`McpClient` over stdio, with a server that misbehaves in every way it can."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from policy.generation import McpServer, SecretReference, StdioServer
from policy.mcp import McpClient, McpFailure, NotSent, ProtocolError, Uncertain
from policy.model import Caller
from policy.processes import RestartLimits
from tests.mcp_servers.scripted import NAMES
from tests.waiting import gone, runs, until

SERVER = Path(__file__).resolve().parents[2] / "mcp_servers" / "scripted.py"


def scripted(folder: Path, mode: str = "", **settings: Any) -> McpServer:
    command = (sys.executable, "-I", "-S", str(SERVER), mode, str(folder))
    settings = {"isolation": "shared", **settings}
    return McpServer(name="scripted", transport=StdioServer(command=command), **settings)


@asynccontextmanager
async def client_of(server: McpServer, **options: Any) -> AsyncIterator[McpClient]:
    client = McpClient(server, **options)
    try:
        yield client
    finally:
        await client.close()


def lines(folder: Path, name: str) -> list[str]:
    file = folder / name
    return file.read_text().splitlines() if file.exists() else []


async def test_tools_are_listed_and_called(tmp_path: Path) -> None:
    async with client_of(scripted(tmp_path)) as client:
        tools = await client.list_tools()
        assert [tool.name for tool in tools][:2] == ["echo", "note"]
        assert client.tools == tools
        assert client.instructions == "Be kind."
        assert await client.check()
        status = client.status
        assert (status.state, status.era, status.protocol_version) == (
            "open",
            "handshake",
            "2025-06-18",
        )


async def test_what_the_server_sends_is_returned_unchanged(tmp_path: Path) -> None:
    async with client_of(scripted(tmp_path)) as client:
        (echo, *_) = await client.list_tools()
        assert echo.raw["vendorKey"] == "kept"
        assert echo.raw["annotations"] == {"readOnlyHint": True, "vendorHint": "kept"}
        assert await client.call_tool("echo", {"text": "é"}) == {
            "content": [{"type": "text", "text": "é", "vendorKey": "kept"}],
            "_meta": {"example.com/vendor": {"kept": True}},
            "vendorKey": "kept",
        }
        failed = await client.call_tool("fails", {})
        assert failed == {"content": [{"type": "text", "text": "no such file"}], "isError": True}


async def test_pages_are_read_to_the_last(tmp_path: Path) -> None:
    async with client_of(scripted(tmp_path, "two pages")) as client:
        assert len(await client.list_tools()) == len(NAMES)


@pytest.mark.parametrize(
    ("mode", "said"),
    [
        (
            "ends",
            r"ended with exit status 3; it wrote: no \\u\{1b\}\[31mconfiguration for this server",
        ),
        ("garbage", "the server has sent 1,000 lines in a row that are no MCP messages"),
        ("blank lines", "the server has sent 1,000 lines in a row that are no MCP messages"),
        ("endless line", "the server has sent a message of more than 16,777,216 bytes"),
        ("endless nesting", "the server has sent a message that is nested too deeply"),
    ],
)
async def test_a_server_that_cannot_list_its_tools_is_an_error(
    tmp_path: Path, mode: str, said: str
) -> None:
    async with client_of(scripted(tmp_path, mode)) as client:
        with pytest.raises(McpFailure, match=said):
            await client.list_tools()
        assert client.tools == ()
        assert client.status.last_error


@pytest.mark.parametrize(
    ("mode", "said"),
    [
        ("endless pages", "the server's list has more than 100 pages"),
        ("circle of pages", "the server's list leads back to a page before"),
        ("empty cursor", "the server's list leads back to a page before"),
        ("odd cursor", "the server's list continues at something that is not a string"),
    ],
)
async def test_a_list_without_an_end_is_used_as_far_as_it_was_read(
    tmp_path: Path, mode: str, said: str
) -> None:
    async with client_of(scripted(tmp_path, mode)) as client:
        assert tuple(tool.name for tool in await client.list_tools()) == NAMES
        assert client.faults.left_out == {}
        assert client.faults.others == (f"{said}; what it lists up to there is used",)


async def test_an_empty_cursor_that_is_refused_is_the_end(tmp_path: Path) -> None:
    async with client_of(scripted(tmp_path, "empty cursor at the end")) as client:
        assert len(await client.list_tools()) == len(NAMES)
        assert client.faults.others == ()


async def test_a_list_that_is_too_large_is_used_as_far_as_there_is_room(tmp_path: Path) -> None:
    async with client_of(scripted(tmp_path, "large list")) as client:
        assert await client.list_tools() == ()
        (said,) = client.faults.others
        assert said.startswith("the server's list has more than 16,777,216 bytes")
        assert client.faults.left_out == {"large": "it cannot be read: more bytes than the limit"}


async def test_tools_without_a_name_are_left_out(tmp_path: Path) -> None:
    async with client_of(scripted(tmp_path, "no list")) as client:
        assert await client.list_tools() == ()
        (said,) = client.faults.others
        assert said.startswith("left out: tool 1: `name` must be a string")


async def test_a_tool_that_is_nested_too_deeply_costs_only_itself(tmp_path: Path) -> None:
    async with client_of(scripted(tmp_path, "very deep schema")) as client:
        assert tuple(tool.name for tool in await client.list_tools()) == NAMES
        assert client.faults.left_out == {"deep": "it cannot be read: nested too deeply"}


async def test_a_server_that_does_not_greet_is_given_up(tmp_path: Path) -> None:
    async with client_of(scripted(tmp_path, "hangs", start=0.2)) as client:
        with pytest.raises(NotSent, match=r"not ready within 0\.2 seconds"):
            await client.list_tools()


@pytest.mark.parametrize("mode", ["not UTF-8", "banner"])
async def test_lines_that_are_no_messages_are_passed_over(tmp_path: Path, mode: str) -> None:
    async with client_of(scripted(tmp_path, mode)) as client:
        assert await client.list_tools()


async def test_a_program_that_is_not_there_is_an_error() -> None:
    server = McpServer(name="none", transport=StdioServer(command=("no-such-program",)))
    async with client_of(server) as client:
        with pytest.raises(
            NotSent, match="cannot be started or reached: `no-such-program`: No such"
        ):
            await client.call_tool("echo", {})


async def test_an_error_of_the_protocol_is_the_servers_answer(tmp_path: Path) -> None:
    async with client_of(scripted(tmp_path)) as client:
        with pytest.raises(ProtocolError, match="answered with an error: unknown tool none"):
            await client.call_tool("none", {})


@pytest.mark.parametrize("name", ["half a character", "no result"])
async def test_an_answer_that_cannot_be_read_is_an_error_at_once(tmp_path: Path, name: str) -> None:
    """The caller would wait for it until its time is over."""
    async with client_of(scripted(tmp_path)) as client:
        with pytest.raises(ProtocolError, match="the server's answer cannot be read"):
            await client.call_tool(name, {})
        assert await client.check()


async def test_a_call_that_may_have_run_is_not_sent_again(tmp_path: Path) -> None:
    async with client_of(scripted(tmp_path)) as client:
        with pytest.raises(Uncertain, match="ended with exit status 7"):
            await client.call_tool("dies", {})
        assert lines(tmp_path, "calls") == ["dies {}"]
        assert (await client.call_tool("echo", {"text": "again"}))["content"]
        assert len(lines(tmp_path, "starts")) == 2


async def test_a_server_that_dies_each_time_is_not_started_in_a_loop(tmp_path: Path) -> None:
    async with client_of(scripted(tmp_path), restarts=RestartLimits(first_pause=20)) as client:
        for _ in range(2):
            with pytest.raises(Uncertain):
                await client.call_tool("dies", {})
        for _ in range(3):
            with pytest.raises(NotSent, match=r"failed 2 times in a row.* in 20 s"):
                await client.call_tool("echo", {})
        assert len(lines(tmp_path, "starts")) == 2


async def give_up_a_call(client: McpClient, folder: Path) -> None:
    call = asyncio.create_task(client.call_tool("waits", {}))
    await until(lambda: "waits {}" in lines(folder, "calls"))
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call


async def test_a_server_that_hangs_after_a_call_is_started_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("policy.mcp.health._ANSWERING", 0.1)
    async with client_of(scripted(tmp_path, "falls silent")) as client:
        await give_up_a_call(client, tmp_path)
        await until(lambda: client.status.state != "open")
        await client.call_tool("echo", {"text": "again"})
        assert lines(tmp_path, "calls") == ["waits {}", 'echo {"text": "again"}']


async def test_a_cancelled_call_leaves_the_session_as_it_is(tmp_path: Path) -> None:
    async with client_of(scripted(tmp_path)) as client:
        await client.call_tool("note", {"text": "kept"})
        await give_up_a_call(client, tmp_path)
        state = await client.call_tool("state", {})
        assert state["structuredContent"]["notes"] == ["kept"]


async def test_announced_changes_are_reported_and_listed(tmp_path: Path) -> None:
    changes: list[int] = []
    async with client_of(scripted(tmp_path), changed=lambda: changes.append(1)) as client:
        assert len(await client.list_tools()) == len(NAMES)
        await client.call_tool("grow", {})
        await until(lambda: len(changes) == 4)
        assert len(await client.list_tools()) == len(NAMES) + 1


ADA = Caller(user="ada", session="one")


@pytest.mark.parametrize(
    ("isolation", "other", "together"),
    [
        ("session", Caller(user="ada", session="one"), True),
        ("session", Caller(user="ada", session="two"), False),
        ("session", Caller(user="bob", session="one"), False),
        ("session", Caller(user="ada", session="one", role="guest"), False),
        ("caller", Caller(user="ada", session="two"), True),
        ("caller", Caller(user="bob", session="one"), False),
        ("caller", Caller(user="ada", session="one", agent="other"), False),
        ("shared", Caller(user="bob", session="two"), True),
    ],
)
async def test_callers_share_a_session_as_configured(
    tmp_path: Path, isolation: str, other: Caller, together: bool
) -> None:
    async with client_of(scripted(tmp_path, isolation=isolation)) as client:
        await client.call_tool("note", {"text": "of ada"}, caller=ADA)
        seen = await client.call_tool("state", {}, caller=other)
        assert seen["structuredContent"]["notes"] == (["of ada"] if together else [])


async def test_callers_without_a_user_share_nothing_beyond_their_session(tmp_path: Path) -> None:
    async with client_of(scripted(tmp_path, isolation="caller")) as client:
        await client.call_tool("note", {"text": "mine"}, caller=Caller(session="one"))
        seen = await client.call_tool("state", {}, caller=Caller(session="two"))
        assert seen["structuredContent"]["notes"] == []


async def test_sessions_are_bounded_and_those_left_longest_are_closed(tmp_path: Path) -> None:
    server = scripted(tmp_path, isolation="session", sessions=2)
    async with client_of(server) as client:
        for session in ("one", "two", "three"):
            await client.call_tool("echo", {}, caller=Caller(session=session))
        assert client.status.sessions == 2
        waiting = [
            asyncio.create_task(client.call_tool("waits", {}, caller=Caller(session=session)))
            for session in ("two", "three")
        ]
        await until(lambda: len(lines(tmp_path, "calls")) == 5)
        with pytest.raises(NotSent, match="all 2 of its sessions are in use"):
            await client.call_tool("echo", {}, caller=Caller(session="four"))
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)


async def test_the_session_of_a_caller_who_leaves_is_closed(tmp_path: Path) -> None:
    async with client_of(scripted(tmp_path, isolation="session")) as client:
        await client.call_tool("note", {"text": "secret"}, caller=ADA)
        await client.forget(ADA)
        assert client.status.sessions == 0
        state = await client.call_tool("state", {}, caller=ADA)
        assert state["structuredContent"]["notes"] == []


async def test_an_idle_session_is_closed_with_its_process(tmp_path: Path) -> None:
    async with client_of(scripted(tmp_path, idle=0.05)) as client:
        await client.call_tool("echo", {})
        await until(lambda: client.status.state == "closed")
        (pid,) = lines(tmp_path, "starts")
        await gone(pid)


async def test_calls_of_many_at_once_are_not_crossed(tmp_path: Path) -> None:
    async with client_of(scripted(tmp_path)) as client:
        results = await asyncio.gather(
            *(client.call_tool("echo", {"text": str(number)}) for number in range(100))
        )
        assert [result["content"][0]["text"] for result in results] == list(map(str, range(100)))
        assert len(lines(tmp_path, "starts")) == 1


PRINTS = "import json, os; open('env', 'w').write(json.dumps(dict(os.environ)))"


async def test_a_server_gets_the_variables_it_is_configured_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLACET_TEST_SECRET", "hush")
    monkeypatch.setenv("PLACET_TEST_TOKEN", "from the environment")
    (tmp_path / "secret").write_text("from a file\n")
    transport = StdioServer(
        command=(sys.executable, "-I", "-c", PRINTS),
        env={
            "PLAIN": "plain",
            "TOKEN": SecretReference(env="PLACET_TEST_TOKEN"),
            "KEY": SecretReference(file=str(tmp_path / "secret")),
        },
        folder=str(tmp_path),
    )
    async with client_of(McpServer(name="prints", transport=transport)) as client:
        with pytest.raises(McpFailure, match="exit status 0"):
            await client.list_tools()
    found = json.loads((tmp_path / "env").read_text())
    always = {"HOME", "LANG", "PATH", "TMPDIR", "LC_CTYPE"}
    assert {name: found[name] for name in found.keys() - always} == {
        "PLAIN": "plain",
        "TOKEN": "from the environment",
        "KEY": "from a file",
        # Commands for people only refuse to run below a server, as they do below a call.
        "PLACET_CALL": "mcp prints",
    }


@pytest.mark.parametrize(
    ("secret", "said"),
    [
        (SecretReference(env="PLACET_TEST_ABSENT"), "variable `PLACET_TEST_ABSENT` is not set"),
        (SecretReference(file="/nowhere/secret"), "`/nowhere/secret` cannot be read: No such"),
        (SecretReference(file=__file__), "is not a file with one secret in one line"),
    ],
)
async def test_a_secret_that_is_not_there_is_an_error(secret: SecretReference, said: str) -> None:
    transport = StdioServer(command=(sys.executable, "-c", ""), env={"TOKEN": secret})
    async with client_of(McpServer(name="keys", transport=transport)) as client:
        with pytest.raises(NotSent, match=said):
            await client.list_tools()


async def test_sessions_leave_no_process_or_descriptor_behind(tmp_path: Path) -> None:
    async def connect() -> None:
        async with client_of(scripted(tmp_path)) as client:
            await client.call_tool("echo", {})

    await connect()
    before = sorted(os.listdir("/proc/self/fd"))
    for _ in range(3):
        await connect()
    assert sorted(os.listdir("/proc/self/fd")) == before
    assert not any(map(runs, lines(tmp_path, "starts")))

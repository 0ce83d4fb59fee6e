"""`placet gateway` as a process: on stdio, before servers that others have written."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, MCPError
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.types import ToolListChangedNotification

from policy.approvals import AnswerRefused, ApprovalGate, Person, SqliteApprovals
from tests.e2e.serving import BOTH_ERAS, ENV, Era
from tests.mcp_servers.declaring import declaring_server
from tests.mcp_servers.scripted import NAMES, tool
from tests.preloaded import placet
from tests.unit.cli.gateways import scripted_server
from tests.unit.cli.test_gateway_asking import YES, User, answered, raw
from tests.waiting import PATIENCE, gone, is_written, until

RULES = """\
policy for every agent

default deny

look: allow git__git_status, git__git_log
time: allow mcp time/*
commit: allow git__git_commit with approval because "people read what is committed"
reset: deny git__git_reset because "work is not thrown away"
"""
SERVERS = f"""\
[mcp.servers.git]
command = "{sys.executable}"
args = ["-m", "mcp_server_git"]
isolation = "shared"

[mcp.servers.time]
command = "{sys.executable}"
args = ["-m", "mcp_server_time"]
isolation = "shared"
"""


@asynccontextmanager
async def client_of(
    folder: Path, era: Era, *options: str, **callbacks: Any
) -> AsyncIterator[Client]:
    """Connect a client to a gateway that it starts."""
    work = folder / "work"
    work.mkdir(exist_ok=True)
    command, *arguments = placet("gateway", str(folder / "rules"), "--workspace", str(work))
    server = StdioServerParameters(
        command=command, args=[*arguments, *options], cwd=folder, env=ENV
    )
    with (folder / "gateway.log").open("a", encoding="utf-8") as log:
        async with (
            asyncio.timeout(PATIENCE),
            Client(stdio_client(server, errlog=log), mode=era, **callbacks) as client,
        ):
            yield client


def rules_in(folder: Path, rules: str, settings: str) -> None:
    (folder / "rules").mkdir()
    (folder / "rules" / "global.policy").write_text(rules, "utf-8")
    (folder / "rules" / "placet.toml").write_text(settings, "utf-8")


@pytest.mark.parametrize("era", BOTH_ERAS)
async def test_servers_of_others_are_governed_over_stdio(tmp_path: Path, era: Era) -> None:
    """Nobody has reviewed their tools, so even allowed calls ask: the first answer is no."""
    # A rule can name a tool as `git__git_log` once the server was accepted, and so before.
    rules_in(tmp_path, RULES.replace("git__", "mcp git/"), SERVERS)
    made = await asyncio.create_subprocess_exec("git", "init", "-qb", "main", tmp_path / "work")
    assert await made.wait() == 0
    answers = tmp_path / "answers"
    answers.write_text("no: not yet\nyes\nyes\n", "utf-8")
    work = {"repo_path": str(tmp_path / "work")}
    async with client_of(tmp_path, era, "--approve-script", str(answers)) as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert {"git__git_status", "git__git_commit", "time__get_current_time"} <= names
        assert "git__git_reset" not in names
        refused = await client.call_tool("git__git_status", work)
        assert refused.is_error
        assert "not yet" in str(refused.content)
        status = await client.call_tool(
            "git__git_status", {**work, "repo_path": f"{work['repo_path']}/."}
        )
        assert "On branch main" in str(status.content)
        time = await client.call_tool("time__get_current_time", {"timezone": "UTC"})
        assert time.structured_content is not None
        reset = await client.call_tool("git__git_reset", work)
        assert "work is not thrown away" in str(reset.content)


@pytest.mark.people
async def test_the_first_pins_are_in_force_beside_a_running_gateway(tmp_path: Path) -> None:
    """There is no lock when it starts; its client hears that the tools have changed."""
    script = {"tools": [tool("echo"), {**tool("odd"), "icons": 7}]}
    (tmp_path / "script.json").write_text(json.dumps(script), "utf-8")
    settings = '[pins]\nnew = "deny"\n' + declaring_server(tmp_path / "script.json", "f")
    rules_in(tmp_path, RULES.partition("look:")[0] + "all: allow mcp f/*\n", settings)
    heard = asyncio.Event()

    async def hear(message: object) -> None:
        if isinstance(message, ToolListChangedNotification):
            heard.set()

    async with client_of(tmp_path, "legacy", message_handler=hear) as client:
        assert (await client.list_tools()).tools == []
        refused = await client.call_tool("f__echo", {})
        assert "not-reviewed" in str(refused.content)
        heard.clear()
        await accept(tmp_path / "rules", "f")
        await heard.wait()

        async def allowed() -> bool:
            return not (await client.call_tool("f__echo", {})).is_error

        await until(allowed)
        assert [each.name for each in (await client.list_tools()).tools] == ["f__echo"]
    told = (tmp_path / "gateway.log").read_text("utf-8")
    assert "placet: the MCP server f: left out: tool `odd`: `icons` is not valid" in told


async def accept(rules: Path, server: str) -> None:
    """Accept what a server declares, as a person does in two commands."""

    async def pin(command: str, *more: str) -> bytes:
        words = placet("pin", command, str(rules), "--server", server, *more)
        process = await asyncio.create_subprocess_exec(
            *words, stdout=subprocess.PIPE, env={**os.environ, **ENV}
        )
        return (await process.communicate())[0]

    reviewed = json.loads(await pin("review", "--format", "json"))["digest"]
    assert b"accepted: server f, 1 tool" in await pin("accept", "--reviewed", reviewed)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
async def test_a_gateway_that_is_killed_leaves_no_server_behind(tmp_path: Path) -> None:
    rules_in(tmp_path, RULES.partition("look:")[0] + "allow mcp one/*\n", scripted_server(tmp_path))
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "policy", "gateway", str(tmp_path / "rules"),
        "--workspace", str(tmp_path / "rules" / ".."), "--policy-in-workspace",
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env={**os.environ, **ENV},
    )  # fmt: skip
    await until(lambda: is_written(tmp_path / "starts"))
    process.kill()
    await process.wait()
    for pid in (tmp_path / "starts").read_text().split():
        await gone(pid)


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
async def test_a_gateway_that_is_killed_while_a_call_waits_runs_nothing_twice(
    tmp_path: Path,
) -> None:
    rules = RULES.partition("look:")[0] + 'allow one__echo with approval because "people look"\n'
    listed = '[catalogue.servers]\none = "one.json"\n[approvals]\nstore = "../a.sqlite"\n'
    rules_in(tmp_path, rules, listed + scripted_server(tmp_path))
    (tmp_path / "rules" / "one.json").write_text(json.dumps([tool(name) for name in NAMES]))
    queue = ApprovalGate(SqliteApprovals(tmp_path / "a.sqlite"))

    async def asked(*, not_yet: str = "") -> str:
        async def others() -> list[str]:
            return [one.request.id for one in await queue.pending() if one.request.id != not_yet]

        return (await until(others))[0]

    async with client_of(tmp_path, "legacy") as client:
        waiting = asyncio.create_task(client.call_tool("one__echo", {"text": "hi"}))
        first = await asked()
        os.kill(_gateway_of(tmp_path), signal.SIGKILL)
        with pytest.raises(MCPError):
            await waiting
    with suppress(AnswerRefused):
        await queue.approve(first, Person(id="carol"))
    async with client_of(tmp_path, "legacy") as client:
        await client.list_tools()
        assert not (tmp_path / "calls").exists()
        again = asyncio.create_task(client.call_tool("one__echo", {"text": "hi"}))
        await queue.approve(await asked(not_yet=first), Person(id="carol"))
        assert not (await again).is_error
    assert (tmp_path / "calls").read_text() == 'echo {"text": "hi"}\n'


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
async def test_a_gateway_that_is_killed_while_its_client_is_asked_tells_it_so(
    tmp_path: Path,
) -> None:
    """The client comes back with the state that it carries, and its yes runs nothing."""
    rules = RULES.partition("look:")[0] + 'allow one__echo with approval because "people look"\n'
    settings = '[approvals]\nstore = "../a.sqlite"\nask = "both"\n' + scripted_server(tmp_path)
    rules_in(tmp_path, rules, '[catalogue.servers]\none = "one.json"\n' + settings)
    (tmp_path / "rules" / "one.json").write_text(json.dumps([tool(name) for name in NAMES]))
    audit, called = tmp_path / "audit.jsonl", tmp_path / "calls"

    def client(user: User) -> AbstractAsyncContextManager[Client]:
        return client_of(tmp_path, "auto", "--audit", str(audit), elicitation_callback=user)

    async with client(User(YES)) as first:
        parked = await raw(first)
        os.kill(_gateway_of(tmp_path), signal.SIGKILL)
        with pytest.raises(MCPError):
            await raw(first)
    (filed,) = await ApprovalGate(SqliteApprovals(tmp_path / "a.sqlite")).pending()
    assert filed.request.tool == "one__echo"
    async with client(User(YES)) as second:
        with pytest.raises(MCPError, match="was started again"):
            await raw(second, **answered(parked["requestState"]))
        assert not called.exists()
        asked = await raw(second)
        result = await raw(second, **answered(asked["requestState"]))
        assert result["content"][0]["text"] == "hi"
    assert called.read_text() == 'echo {"text": "hi"}\n'
    records = [json.loads(line) for line in audit.read_text("utf-8").splitlines()]
    assert [one["event"] for one in records if one["tool"] == "one__echo"] == ["start", "end"]


def _gateway_of(folder: Path) -> int:
    """Return the process of the gateway that serves a folder."""
    for entry in os.listdir("/proc"):
        try:
            words = Path(f"/proc/{entry}/cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if b"gateway" in words and str(folder / "rules").encode() in words:
            return int(entry)
    raise AssertionError("no gateway runs")

"""MCP servers in a sandbox: which calls it is narrow enough for, and what it has denied."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from policy import PolicyStore
from policy.audit import DeniedAccess, MemorySink
from policy.generation import McpServer, Reach, StdioServer
from policy.mcp import McpServers
from policy.model import Execution, PermissionDenied, Transport
from policy.service import GovernedService, build_tool_service
from policy.tools import ToolOutput
from tests.unit.sandbox.confining import needs_bubblewrap

SERVER = Path(__file__).resolve().parents[2] / "mcp_servers" / "reading.py"
READ = {
    "name": "read",
    "inputSchema": {"type": "object", "properties": {"file": {"type": "string"}}},
}


@asynccontextmanager
async def serving(
    tmp_path: Path, rules: str, reach: Reach | None
) -> AsyncIterator[tuple[GovernedService, MemorySink]]:
    """Serve a server that reads files; `$` in the rules stands for the folder of the test."""
    folder = tmp_path / "rules"
    folder.mkdir()
    (tmp_path / "work").mkdir()
    text = f"policy for every agent\n\ndefault deny\n\n{rules}\n"
    (folder / "global.policy").write_text(text.replace("$", str(tmp_path)))
    # As it was reviewed.
    (folder / "files.json").write_text(json.dumps([{**READ, "server": "files"}]))
    (folder / "placet.toml").write_text('[catalogue]\nfiles = ["files.json"]\n')
    sink = MemorySink()
    service = build_tool_service(
        PolicyStore(folder), tools=(), audit=sink, workspace=tmp_path / "work"
    )
    command = ("/usr/bin/python3", "-I", "-S", str(SERVER))
    server = McpServer(name="files", transport=StdioServer(command=command, reach=reach))
    servers = McpServers(service)
    try:
        await servers.use([server])
        yield service, sink
    finally:
        await servers.close()


def reach(*paths: Path, **more: Any) -> Reach:
    return Reach(reads=(str(SERVER.parent), *map(str, paths)), **more)


async def read(service: GovernedService, file: Path) -> ToolOutput:
    return await service.execute("files__read", {"file": str(file)})


@needs_bubblewrap
async def test_a_call_is_sent_to_a_server_whose_sandbox_is_within_what_rules_rely_on(
    tmp_path: Path,
) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "a.txt").write_text("of a")
    own = f'only-data: allow mcp files/* when reads only ["$/data/**", "{SERVER.parent}/**"]'
    async with serving(tmp_path, own, reach(data)) as (service, sink):
        assert (await read(service, data / "a.txt")).value == "of a"
        assert sink.records[-1].confinement is not None
        # What the sandbox does not let it read is told apart from other errors.
        outside = Path("/srv/elsewhere/b.txt")
        output = await read(service, outside)
        sentence = f"Likely, the sandbox does not let this server read {outside};"
        assert output.is_error and sentence in output.value
        assert output.denial is not None and output.relayed is not None
        assert output.relayed.content[-1]["text"].startswith(sentence)
        assert (sink.records[-1].code, sink.records[-1].outcome) == ("denied-by-sandbox", "failed")
        assert (sink.records[-1].message or "").startswith(sentence)
        assert sink.records[-1].denied == (
            DeniedAccess(verb="read", target=str(outside), likely=True),
        )


@needs_bubblewrap
async def test_a_call_is_not_sent_to_a_server_whose_sandbox_is_wider(tmp_path: Path) -> None:
    data, more = tmp_path / "data", tmp_path / "more"
    data.mkdir()
    more.mkdir()
    (data / "a.txt").write_text("of a")
    own = f'only-data: allow mcp files/* when reads only ["$/data/**", "{SERVER.parent}/**"]'
    async with serving(tmp_path, own, reach(data, more)) as (service, sink):
        with pytest.raises(Execution) as refused:
            await read(service, data / "a.txt")
        assert refused.value.code == sink.records[-1].code == "sandbox-too-wide"


async def test_a_server_without_a_sandbox_makes_no_only_hold(tmp_path: Path) -> None:
    rules = 'only-data: allow mcp files/* when reads only "$/data/**"'
    async with serving(tmp_path, rules, None) as (service, _):
        with pytest.raises(PermissionDenied):
            await read(service, tmp_path / "data" / "a.txt")


@needs_bubblewrap
async def test_a_server_starts_anew_when_somebody_replaces_what_its_sandbox_protects(
    tmp_path: Path,
) -> None:
    data = tmp_path / "data"
    config = data / ".git" / "config"
    config.parent.mkdir(parents=True)
    config.write_text("old")
    os.mkfifo(data / "nothing-yet")
    rules = "every: allow mcp files/*"
    async with serving(tmp_path, rules, reach(writes=(str(data),))) as (service, sink):
        assert (await read(service, config)).value == "old"
        # A call that runs at that moment may have done something.
        running = asyncio.create_task(read(service, data / "nothing-yet"))
        writer = await opened_once_read(data / "nothing-yet")
        saved = data / "saved"
        saved.write_text("new")
        saved.replace(config)
        with pytest.raises(Transport) as failed:
            await running
        os.close(writer)
        assert failed.value.code == sink.records[-1].code == "ended-by-sandbox"
        assert "the call may have run" in failed.value.message
        assert "The sandbox has ended this server: somebody else has replaced" in str(failed.value)
        # The next one goes to a new process, whose sandbox protects the new file.
        assert (await read(service, config)).value == "new"


async def opened_once_read(fifo: Path) -> int:
    """Open a pipe that has a name for writing, once somebody reads it."""
    while True:
        try:
            return os.open(fifo, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:
            await asyncio.sleep(0.01)

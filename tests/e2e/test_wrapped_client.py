"""A client that was wrapped starts the gateway by its file, and finds its servers behind that."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.unit.cli.running import run

SERVER = Path(__file__).resolve().parents[1] / "mcp_servers" / "scripted.py"
RULES = "policy for every agent\n\ndefault deny\n\nuse: allow mcp one/*\n"


@pytest.mark.long
@pytest.mark.people
def test_a_wrapped_client_reaches_its_server_through_the_gateway(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "global.policy").write_text(RULES)
    arguments = ["-I", "-S", str(SERVER), "", str(tmp_path)]
    servers = {"one": {"command": sys.executable, "args": arguments, "env": {"KEY": "kept"}}}
    file = tmp_path / ".mcp.json"
    file.write_text(json.dumps({"mcpServers": servers}))
    monkeypatch.chdir(tmp_path)
    assert run("gateway", "rules", "--wrap", file).code == 0
    (name,) = json.loads(file.read_text())["mcpServers"]
    entry = json.loads(file.read_text())["mcpServers"][name]
    found = run("pin", "review", "--server", "one", "--wrapped", file, "--format", "json")
    digest = found.record["digest"]
    words = ("pin", "accept", "--server", "one", "--wrapped", file, "--reviewed", digest)
    assert run(*words).code == 0
    # As a client does: in the folder of the project, with a few variables of its own.
    started = StdioServerParameters(
        command=entry["command"], args=entry["args"], env=entry["env"], cwd=tmp_path
    )
    listed, content = asyncio.run(_used(started))
    assert "one__echo" in listed
    assert content == ["hi"]


async def _used(started: StdioServerParameters) -> tuple[list[str], list[Any]]:
    """Return the tools that a client is listed, and what one of them returns."""
    async with Client(stdio_client(started)) as client:
        listed = [tool.name for tool in (await client.list_tools()).tools]
        result = await client.call_tool("one__echo", {"text": "hi"})
        return listed, [getattr(part, "text", None) for part in result.content]

"""`McpClient` with servers that others have written, in both revisions of the protocol.

Those in JavaScript run where `make mcp-servers` has installed them.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from policy.generation import McpServer, StdioServer
from policy.mcp import McpClient

NODE_MODULES = os.environ.get("PLACET_NPM_SERVERS", "")
in_javascript = pytest.mark.skipif(
    not NODE_MODULES, reason="`make mcp-servers` installs the servers in JavaScript"
)


@asynccontextmanager
async def client_of(*command: str) -> AsyncIterator[McpClient]:
    client = McpClient(
        McpServer(name="real", transport=StdioServer(command=command), isolation="shared", start=60)
    )
    try:
        yield client
    finally:
        await client.close()


def node(package: str, *arguments: str) -> tuple[str, ...]:
    program = shutil.which("node")
    assert program is not None
    script = Path(NODE_MODULES) / "@modelcontextprotocol" / package / "dist" / "index.js"
    return (program, str(script), *arguments)


async def test_the_time_server() -> None:
    async with client_of(sys.executable, "-m", "mcp_server_time") as client:
        assert {tool.name for tool in await client.list_tools()} == {
            "get_current_time",
            "convert_time",
        }
        result = await client.call_tool("get_current_time", {"timezone": "UTC"})
        assert result["structuredContent"]["timezone"] == "UTC"
        assert client.status.era == "stateless"
        assert await client.check()


async def test_the_git_server(tmp_path: Path) -> None:
    async with client_of(sys.executable, "-m", "mcp_server_git") as client:
        assert "git_status" in {tool.name for tool in await client.list_tools()}
        result = await client.call_tool("git_status", {"repo_path": str(tmp_path)})
        assert result["isError"]
        assert client.status.era == "stateless"


@in_javascript
async def test_the_server_with_everything() -> None:
    async with client_of(*node("server-everything")) as client:
        assert "echo" in {tool.name for tool in await client.list_tools()}
        assert await client.call_tool("echo", {"message": "hi"}) == {
            "content": [{"type": "text", "text": "Echo: hi"}]
        }
        result = await client.call_tool("get-structured-content", {"location": "Chicago"})
        assert result["structuredContent"]
        assert client.status.era == "handshake"
        assert await client.check()


@in_javascript
async def test_the_server_for_files(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("content")
    async with client_of(*node("server-filesystem", str(tmp_path))) as client:
        read = await client.call_tool("read_text_file", {"path": str(tmp_path / "a.txt")})
        assert read["content"][0]["text"] == "content"
        outside = await client.call_tool("read_text_file", {"path": "/etc/passwd"})
        assert outside["isError"]
        assert client.status.protocol_version == "2025-11-25"

"""A server over stdio in a sandbox of its own."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from policy.generation import McpServer, Reach, StdioServer
from policy.mcp import McpClient, McpFailure
from tests.unit.sandbox.confining import needs_bubblewrap, needs_landlock
from tests.unit.sandbox.network.stand_ins import answering, elsewhere

SERVERS = Path(__file__).resolve().parents[2] / "mcp_servers"


def confined(folder: Path, reach: Reach) -> McpServer:
    command = (sys.executable, "-I", "-S", str(SERVERS / "scripted.py"), "", str(folder))
    return McpServer(name="s", transport=StdioServer(command=command, reach=reach))


def interpreter() -> tuple[str, ...]:
    return (str(Path(sys.base_prefix).resolve()), sys.prefix, str(SERVERS))


@needs_bubblewrap
async def test_a_server_works_with_what_it_may_touch(tmp_path: Path) -> None:
    server = confined(tmp_path, Reach(reads=interpreter(), writes=(str(tmp_path),)))
    client = McpClient(server)
    try:
        assert [tool.name for tool in await client.list_tools()][:2] == ["echo", "note"]
    finally:
        await client.close()


@needs_landlock
async def test_a_server_has_the_driver_that_is_configured_for_it(tmp_path: Path) -> None:
    reach = Reach(reads=interpreter(), writes=(str(tmp_path),), driver="landlock")
    client = McpClient(confined(tmp_path, reach))
    try:
        assert [tool.name for tool in await client.list_tools()][:2] == ["echo", "note"]
    finally:
        await client.close()


@needs_bubblewrap
async def test_a_server_without_its_files_does_not_start(tmp_path: Path) -> None:
    # Without its own folder, the server does not find its program.
    *python, _ = interpreter()
    client = McpClient(confined(tmp_path, Reach(reads=tuple(python))))
    try:
        with pytest.raises(McpFailure, match="No such file"):
            await client.list_tools()
    finally:
        await client.close()


async def test_a_server_is_not_started_without_its_sandbox(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("policy.sandbox.bubblewrap.PROGRAMS", str(tmp_path))
    client = McpClient(confined(tmp_path, Reach()))
    try:
        with pytest.raises(McpFailure, match="`bwrap` is not installed"):
            await client.list_tools()
    finally:
        await client.close()


FETCH = """
import os, sys, urllib.error, urllib.request
# What listens inside would be reached directly.
os.environ.pop("no_proxy"), os.environ.pop("NO_PROXY")
for url in sys.argv[2:]:
    try:
        said = urllib.request.urlopen(url).read().decode()
    except urllib.error.HTTPError as error:
        said = error.reason
    with open(sys.argv[1], "a") as file:
        print(said, file=file)
"""


@needs_bubblewrap
async def test_a_server_reaches_the_hosts_that_are_listed_for_it(tmp_path: Path) -> None:
    async with elsewhere() as hosts:
        await hosts.serve("127.0.0.1", 80, answering)
        here = f"127.0.0.1:{hosts.ports['127.0.0.1', 80]}"
        said, urls = tmp_path / "said", (f"http://{here}/x", "http://b.test/")
        command = ("/usr/bin/python3", "-c", FETCH, str(said), *urls)
        reach = Reach(writes=(str(tmp_path),), network="hosts", connects=(here,))
        server = McpServer(name="s", transport=StdioServer(command=command, reach=reach))
        client = McpClient(server)
        try:
            with pytest.raises(McpFailure):
                await client.list_tools()  # it speaks no MCP
        finally:
            await client.close()
    assert said.read_text().splitlines()[:2] == [
        "GET /x HTTP/1.1 ",
        "the sandbox does not connect to b.test:80: `connects` does not name it",
    ]

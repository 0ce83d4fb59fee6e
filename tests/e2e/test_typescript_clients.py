"""The official clients in TypeScript before `placet gateway`, over stdio and HTTP.

They run where `make mcp-servers` has installed them.
"""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import sys
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.serving import ENV
from tests.e2e.test_gateway import rules_in
from tests.e2e.test_mcp_servers import NODE_MODULES, in_javascript
from tests.mcp_servers.scripted import NAMES, tool
from tests.unit.cli.gateways import LISTED
from tests.unit.cli.test_gateway_offers import offering
from tests.waiting import PATIENCE

CLIENT = Path(__file__).resolve().parents[1] / "mcp_servers" / "clients" / "client.mjs"
TOKEN = "correct-horse-battery"
RULES = """\
policy for every agent

default deny

look: allow one__echo
ask: allow one__state with approval because "people look first"
note: deny one__note because "no notes"
notes: allow mcp_read_resource when input.server == "one" and input.uri starts with "demo://"
grown: allow mcp_read_resource when input.uri == "file:///srv/project/a.txt" with approval
prompts: allow mcp_get_prompt when input.name == "review"
words: allow mcp_complete when input.server == "one"
"""
ASKING = '[approvals]\nstore = "../approvals.sqlite"\nask = "client"\ntimeout = "60s"\n'


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A client by its package, and the revision that it speaks."""

    package: str
    mode: Any = None
    version: str | None = None


CLIENTS = [
    pytest.param(Case(package="sdk"), id="sdk"),
    pytest.param(Case(package="client", mode="legacy", version="2025-11-25"), id="client-legacy"),
    pytest.param(Case(package="client", mode="auto", version="2026-07-28"), id="client-modern"),
]


def gateway_command(folder: Path, *options: str) -> list[str]:
    work = folder / "work"
    work.mkdir(exist_ok=True)
    arguments = ["-m", "policy", "gateway", str(folder / "rules"), "--workspace", str(work)]
    return [sys.executable, *arguments, "--audit", str(folder / "audit.jsonl"), *options]


@asynccontextmanager
async def where(folder: Path, transport: str) -> AsyncIterator[dict[str, Any]]:
    """Give what tells a client how to reach a gateway, which runs if that is over HTTP."""
    if transport == "stdio":
        program, *arguments = gateway_command(folder)
        yield {"command": program, "args": arguments, "cwd": str(folder), "env": ENV}
        return
    (folder / "token").write_text(TOKEN)
    process = await asyncio.create_subprocess_exec(
        *gateway_command(folder, "--http", "127.0.0.1:0", "--token-file", str(folder / "token")),
        stdin=DEVNULL, stderr=PIPE, cwd=folder, env=ENV,
    )  # fmt: skip
    assert process.stderr is not None
    try:
        said = ""
        while (found := re.search(r"http://\S+/mcp", said)) is None:
            said = (await process.stderr.readline()).decode()
            assert said, "the gateway has ended"
        yield {"url": found[0], "token": TOKEN}
    finally:
        process.terminate()
        await process.communicate()


async def run(case: Case, told: dict[str, Any], *steps: tuple[str, Any]) -> list[dict[str, Any]]:
    """Have a client do these steps; return what it says."""
    node = shutil.which("node")
    assert node is not None
    yes = {"action": "accept", "content": {"approve": True}}
    more = {"package": case.package, "mode": case.mode, "modules": NODE_MODULES, "answer": yes}
    process = await asyncio.create_subprocess_exec(
        node, str(CLIENT), json.dumps({**told, **more, "steps": steps}), stdout=PIPE, stderr=PIPE
    )
    async with asyncio.timeout(PATIENCE):
        out, errors = await process.communicate()
    assert process.returncode == 0, errors.decode()
    return [json.loads(line) for line in out.splitlines()]


@in_javascript
@pytest.mark.parametrize("transport", ["stdio", "http"])
@pytest.mark.parametrize("case", CLIENTS)
async def test_a_client_lists_calls_is_refused_and_asked(
    tmp_path: Path, case: Case, transport: str
) -> None:
    rules_in(tmp_path, RULES, LISTED + ASKING + offering(tmp_path))
    listed = json.dumps([tool(name) for name in NAMES])
    (tmp_path / "rules" / "one.json").write_text(listed)
    async with where(tmp_path, transport) as told:
        first, *found = await run(
            case,
            told,
            ("listTools", {}),
            ("callTool", {"name": "one__echo", "arguments": {"text": "hi"}}),
            ("callTool", {"name": "one__note", "arguments": {"text": "x"}}),
            ("callTool", {"name": "one__state", "arguments": {}}),
            ("listResources", {}),
            ("listResourceTemplates", {}),
            ("readResource", {"uri": "placet://one/demo://note"}),
            ("readResource", {"uri": "placet://one/file:///etc/passwd"}),
            ("readResource", {"uri": "placet://one/file:///srv/project/a.txt"}),
            ("listPrompts", {}),
            ("getPrompt", {"name": "one__review", "arguments": {"of": "a"}}),
            ("getPrompt", {"name": "one__plain"}),
            (
                "complete",
                {
                    "ref": {"type": "ref/prompt", "name": "one__review"},
                    "argument": {"name": "of", "value": "v"},
                },
            ),
        )
    assert {"tools", "resources", "prompts", "completions"} <= first["capabilities"].keys()
    assert first.get("version") == case.version
    tools, echo, note, state, resources, templates, read, passwd, grown, *rest = found
    assert {tool["name"] for tool in tools["result"]["tools"]} == {"one__echo", "one__state"}
    assert echo["result"]["content"][0]["text"] == "hi"
    assert note["result"]["isError"]
    assert "no notes" in note["result"]["content"][0]["text"]
    assert state["result"]["structuredContent"]["pid"]
    assert "people look first" in state["asked"][0]
    assert [each["uri"] for each in resources["result"]["resources"]] == [
        "placet://one/file:///srv/project/a.txt",
        "placet://one/demo://note",
    ]
    template = templates["result"]["resourceTemplates"][0]
    assert template["uriTemplate"] == "placet://one/demo://{name}"
    assert read["result"]["contents"][0]["uri"] == "placet://one/demo://note"
    assert "not-allowed" in passwd["error"]
    assert passwd["code"] == -32010
    assert grown["result"]["contents"][0]["uri"] == "placet://one/file:///srv/project/a.txt"
    assert "file:///srv/project/a.txt" in grown["asked"][0]
    prompts, review, plain, complete = rest
    assert [each["name"] for each in prompts["result"]["prompts"]] == ["one__review"]
    assert review["result"]["messages"][0]["content"]["text"] == '{"of": "a"}'
    assert "not-allowed" in plain["error"]
    assert complete["result"]["completion"]["values"] == [
        'v-{"type": "ref/prompt", "name": "review"}'
    ]
    lines = (tmp_path / "audit.jsonl").read_text().splitlines()
    ends = [record for record in map(json.loads, lines) if record["event"] == "end"]
    assert [record["outcome"] for record in ends] == [
        *("ok", "denied", "ok"), *("ok", "denied", "ok"), *("ok", "denied", "ok"),
    ]  # fmt: skip
    calls = (tmp_path / "calls").read_text().splitlines()
    assert [line.split()[0] for line in calls] == ["echo", "state"]

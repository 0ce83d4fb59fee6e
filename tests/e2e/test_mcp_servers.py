"""`McpClient` with servers that others have written, in both revisions of the protocol.

Those in JavaScript run where `make mcp-servers` has installed them.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from mcp import MCPError
from mcp.types import ElicitResult, PromptReference, ResourceTemplateReference

from policy.generation import McpServer, StdioServer
from policy.mcp import McpClient
from tests.e2e.serving import BOTH_ERAS, Era
from tests.e2e.test_gateway import client_of as client_of_gateway
from tests.e2e.test_gateway import rules_in
from tests.unit.cli.test_gateway_client_requests import User

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


GOVERNED = """\
policy for every agent

default deny

look: allow mcp files/*, mcp all/*
write: deny mcp files/write_file because "files are read here"
"""


@in_javascript
@pytest.mark.parametrize("era", BOTH_ERAS)
async def test_both_behind_a_gateway(tmp_path: Path, era: Era) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "a.txt").write_text("content")
    tables = [
        _table("files", node("server-filesystem", str(work))),
        _table("all", node("server-everything")),
    ]
    rules_in(tmp_path, GOVERNED, "".join(tables))
    answers = tmp_path / "answers"
    answers.write_text("yes\n" * 20)
    heard: list[float] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append(progress)

    async with client_of_gateway(tmp_path, era, "--approve-script", str(answers)) as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert {"files__read_text_file", "all__echo"} <= names
        assert "files__write_file" not in names
        read = await client.call_tool("files__read_text_file", {"path": str(work / "a.txt")})
        assert read.content[0].text == "content"  # type: ignore[union-attr]
        refused = await client.call_tool(
            "files__write_file", {"path": str(work / "b.txt"), "content": "x"}
        )
        assert "files are read here" in str(refused.content)
        assert not (work / "b.txt").exists()
        image = await client.call_tool("all__get-tiny-image", {})
        assert {block.type for block in image.content} == {"text", "image"}
        weather = await client.call_tool("all__get-structured-content", {"location": "Chicago"})
        assert weather.structured_content
        long = {"duration": 1, "steps": 3}
        await client.call_tool("all__trigger-long-running-operation", long, progress_callback=hear)
        assert len(heard) >= 3
        assert heard == sorted(set(heard))


ASKED = """\
policy for every agent

default deny

tools: allow mcp all/*
forms: allow mcp_elicit when input.form is present
pages: allow mcp_elicit when connects only to "login.example.com"
models: allow mcp_sample
folders: allow mcp_list_roots
"""


@in_javascript
@pytest.mark.parametrize("era", BOTH_ERAS)
async def test_the_server_with_everything_asks_the_client(tmp_path: Path, era: Era) -> None:
    features = 'client_features = ["elicitation", "sampling", "roots"]\n'
    pins = '[pins]\nnew = "ask"\n'
    rules_in(tmp_path, ASKED, pins + _table("all", node("server-everything")) + features)
    answers = tmp_path / "answers"
    answers.write_text("yes\n" * 20)
    user = User()
    user.answer = ElicitResult(action="accept", content={"name": "Ada", "check": True})
    async with client_of_gateway(
        tmp_path, era, "--approve-script", str(answers), **user.callbacks
    ) as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert {"all__trigger-elicitation-request", "all__get-roots-list"} <= names
        assert "mcp_elicit" not in names
        form = await client.call_tool("all__trigger-elicitation-request", {})
        assert "Name: Ada" in str(form.content)
        (asked,) = user.asked
        assert asked.message.startswith("The MCP server `all` asks you.")
        assert asked.requested_schema["properties"]["integer"]["maximum"] == 100
        said = await client.call_tool("all__trigger-sampling-request", {"prompt": "Sum it up."})
        assert "All is well." in str(said.content)
        roots = await client.call_tool("all__get-roots-list", {})
        assert "file:///srv/work" in str(roots.content)
        page = {"url": "https://login.example.com/start"}
        opened = await client.call_tool("all__trigger-url-elicitation", page)
        assert not opened.is_error, str(opened.content)
        assert user.asked[-1].url == page["url"]
        count = len(user.asked)
        page = {"url": "https://login.example.com.evil.org/start"}
        refused = await client.call_tool("all__trigger-url-elicitation", page)
        assert "refused for the client" in str(refused.content)
        assert len(user.asked) == count


OFFERED = """\
policy for every agent

default deny

pages: allow mcp_read_resource when input.uri starts with "demo://resource/dynamic/text/"
    or input.uri == "demo://resource/static/document/features.md"
prompts: allow mcp_get_prompt when input.server == "all" and input.name != "args-prompt"
words: allow mcp_complete when input.server == "all"
"""


@in_javascript
@pytest.mark.parametrize("era", BOTH_ERAS)
async def test_resources_prompts_and_completions_behind_a_gateway(tmp_path: Path, era: Era) -> None:
    rules_in(tmp_path, OFFERED, _table("all", node("server-everything")))
    answers = tmp_path / "answers"
    answers.write_text("yes\n" * 20)
    async with client_of_gateway(tmp_path, era, "--approve-script", str(answers)) as client:
        listed = (await client.list_resources()).resources
        assert [each.uri for each in listed] == [
            "placet://all/demo://resource/static/document/features.md"
        ]
        features = (await client.read_resource(listed[0].uri)).contents[0]
        assert "Features" in features.text  # type: ignore[union-attr]
        templates = (await client.list_resource_templates()).resource_templates
        text = "placet://all/demo://resource/dynamic/text/{resourceId}"
        assert text in {each.uri_template for each in templates}
        read = (await client.read_resource(text.replace("{resourceId}", "1"))).contents[0]
        assert "Resource 1" in read.text  # type: ignore[union-attr]
        with pytest.raises(MCPError, match="not-allowed"):
            await client.read_resource("placet://all/demo://resource/dynamic/blob/1")
        prompts = {each.name for each in (await client.list_prompts()).prompts}
        assert prompts == {
            *("all__simple-prompt", "all__completable-prompt", "all__resource-prompt"),
        }
        of_resource = {"resourceType": "Text", "resourceId": "2"}
        messages = (await client.get_prompt("all__resource-prompt", of_resource)).messages
        embedded = next(each.content for each in messages if each.content.type == "resource")
        assert embedded.resource.uri == "placet://all/demo://resource/dynamic/text/2"
        with pytest.raises(MCPError, match="not-allowed"):
            await client.get_prompt("all__args-prompt", {"city": "Oslo"})
        completed = await client.complete(
            PromptReference(name="all__completable-prompt"), {"name": "department", "value": "E"}
        )
        assert completed.completion.values == ["Engineering"]
        completed = await client.complete(
            ResourceTemplateReference(uri=text), {"name": "resourceId", "value": "7"}
        )
        assert completed.completion.values == ["7"]


def _table(name: str, command: tuple[str, ...]) -> str:
    program, *arguments = command
    return (
        f"[mcp.servers.{name}]\ncommand = {json.dumps(program)}\n"
        f'args = {json.dumps(arguments)}\nisolation = "shared"\n'
    )

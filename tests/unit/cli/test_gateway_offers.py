"""Resources, prompts and completions of servers behind `placet gateway`, in both eras."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, MCPError
from mcp.types import (
    GetPromptRequest,
    GetPromptRequestParams,
    ListPromptsRequest,
    ListResourcesRequest,
    PromptListChangedNotification,
    PromptReference,
    ReadResourceRequest,
    ReadResourceRequestParams,
    ResourceListChangedNotification,
    ResourceTemplateReference,
)

from tests.unit.cli.gateways import LISTED, Era, Gateway, gateway
from tests.unit.cli.test_gateway import Raw
from tests.waiting import until

SERVER = Path(__file__).resolve().parents[2] / "mcp_servers" / "offering.py"
ERAS: tuple[Era, ...] = ("auto", "legacy")
RULES = """\
allow mcp one/*
files: allow mcp_read_resource when reads only "/srv/project/**"
notes: allow mcp_read_resource when input.server == "one" and input.uri starts with "demo://"
secret: deny mcp_read_resource when input.uri == "demo://secret" because "it is secret"
prompts: allow mcp_get_prompt when input.server == "one" and input.name == "review"
words: allow mcp_complete when input.server == "one"
"""


def offering(folder: Path, mode: str = "", name: str = "one", **keys: Any) -> str:
    """Return the table that configures the server."""
    arguments = ["-I", "-S", str(SERVER), mode, str(folder)]
    lines = [f"[mcp.servers.{name}]", f"command = {json.dumps(sys.executable)}"]
    lines += [f"args = {json.dumps(arguments)}"]
    lines += [f"{key} = {json.dumps(value)}" for key, value in keys.items()]
    return "\n".join(lines) + "\n"


@asynccontextmanager
async def before(
    folder: Path, mode: str = "", rules: str = RULES, settings: str = LISTED, **keys: Any
) -> AsyncIterator[Gateway]:
    async with gateway(folder, rules, settings + offering(folder, mode, **keys)) as g:
        yield g


def asked(folder: Path, method: str = "") -> list[str]:
    note = folder / "asked"
    lines = note.read_text("utf-8").splitlines() if note.exists() else []
    return [line for line in lines if line.startswith(method)]


async def raw(client: Client, request: Any) -> dict[str, Any]:
    return (await client.session.send_request(request, Raw)).root


async def read(client: Client, uri: str) -> dict[str, Any]:
    params = ReadResourceRequestParams(uri=uri)
    return await raw(client, ReadResourceRequest(params=params))


async def uris_of(client: Client) -> list[str]:
    return [each.uri for each in (await client.list_resources()).resources]


@pytest.mark.parametrize("era", ERAS)
async def test_resources_are_listed_read_hidden_and_refused(tmp_path: Path, era: Era) -> None:
    async with before(tmp_path) as g, g.client(era) as client:
        listed = (await raw(client, ListResourcesRequest()))["resources"]
        assert [each["uri"] for each in listed] == [
            "placet://one/file:///srv/project/a.txt",
            "placet://one/demo://note",
        ]
        assert listed[0]["name"] == "one: a"
        assert listed[0]["title"] == "one: A title"
        assert listed[0]["vendorKey"] == "kept"
        templates = (await client.list_resource_templates()).resource_templates
        assert [each.uri_template for each in templates] == ["placet://one/demo://{name}"]
        found = await read(client, "placet://one/demo://note")
        (contents,) = found["contents"]
        assert contents["uri"] == "placet://one/demo://note"
        assert contents["text"].startswith("of ")
        assert contents["vendorKey"] == "kept"
        assert found["more"] == 1
        assert found["_meta"]["example.com/vendor"] == {"kept": True}
        assert found["_meta"]["placet"]["verdict"] == "allow"
        for uri, why in (
            ("placet://one/demo://secret", "denied-by-policy: it is secret"),
            ("placet://one/file:///etc/passwd", "not-allowed: "),
            ("placet://two/demo://note", "not-allowed: "),
            ("file:///srv/project/a.txt", "not-found: "),
        ):
            with pytest.raises(MCPError, match=why):
                await read(client, uri)
        assert asked(tmp_path, "resources/read") == ['resources/read {"uri": "demo://note"}']
        records = g.records()
        assert [each["tool"] for each in records] == ["mcp_read_resource"] * 5
        assert [each["outcome"] for each in records] == ["ok", *["denied"] * 3, "refused"]


@pytest.mark.parametrize("era", ERAS)
async def test_prompts_are_listed_got_hidden_and_refused(tmp_path: Path, era: Era) -> None:
    async with before(tmp_path) as g, g.client(era) as client:
        listed = (await raw(client, ListPromptsRequest()))["prompts"]
        assert [(each["name"], each["title"]) for each in listed] == [
            ("one__review", "one: Review")
        ]
        assert listed[0]["vendorKey"] == "kept"
        params = GetPromptRequestParams(name="one__review", arguments={"of": "a"})
        found = await raw(client, GetPromptRequest(params=params))
        said, link = (message["content"] for message in found["messages"])
        assert said["text"] == '{"of": "a"}'
        assert link["uri"] == "placet://one/demo://note"
        with pytest.raises(MCPError, match="not-allowed"):
            await client.get_prompt("one__plain")
        with pytest.raises(MCPError, match="not-found"):
            await client.get_prompt("review")
        assert [each["outcome"] for each in g.records()] == ["ok", "denied", "refused"]


@pytest.mark.parametrize("era", ERAS)
async def test_completions_are_those_of_the_server(tmp_path: Path, era: Era) -> None:
    async with before(tmp_path) as g, g.client(era) as client:
        argument = {"name": "of", "value": "v"}
        prompt = PromptReference(name="one__review")
        found = await client.complete(prompt, argument, context_arguments={"other": "x"})
        assert found.completion.values == ['v-{"type": "ref/prompt", "name": "review"}']
        template = ResourceTemplateReference(uri="placet://one/demo://{name}")
        found = await client.complete(template, argument)
        assert found.completion.values == ['v-{"type": "ref/resource", "uri": "demo://{name}"}']
        with pytest.raises(MCPError, match="not-allowed"):
            await client.complete(PromptReference(name="two__review"), argument)
        context = asked(tmp_path, "completion/")[0]
        assert '"context": {"arguments": {"other": "x"}}' in context
        assert [each["outcome"] for each in g.records()] == ["ok", "ok", "denied"]


async def test_nothing_is_asked_of_a_server_that_no_rule_allows(tmp_path: Path) -> None:
    async with before(tmp_path, rules="allow mcp one/*\n") as g, g.client() as client:
        assert await uris_of(client) == []
        assert (await client.list_prompts()).prompts == []
        assert (await client.list_resource_templates()).resource_templates == []
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert names
        assert not any(name.startswith("mcp_") for name in names)
    assert asked(tmp_path) == []


async def test_a_call_of_a_tool_that_no_list_has_is_judged_like_the_request(tmp_path: Path) -> None:
    async with before(tmp_path) as g, g.client() as client:
        for uri, fails in (("demo://note", False), ("demo://secret", True)):
            input = {"server": "one", "uri": uri}
            assert (await client.call_tool("mcp_read_resource", input)).is_error is fails


async def test_a_list_knows_the_calls_of_its_session(tmp_path: Path) -> None:
    rules = "allow mcp one/*\nread: allow mcp_read_resource after one__echo within 1h\n"
    settings = LISTED + '[history]\nstore = "../history.sqlite"\n'
    async with before(tmp_path, rules=rules, settings=settings) as g, g.client() as client:
        assert await uris_of(client) == []
        await client.call_tool("one__echo", {"text": "hi"})
        assert len(await uris_of(client)) == 3


async def test_two_servers_with_the_same_names_are_told_apart(tmp_path: Path) -> None:
    settings = LISTED + 'two = "one.json"\n'
    tables = offering(tmp_path) + offering(tmp_path, name="two")
    rules = 'allow mcp_read_resource when input.server in ["one", "two"]\nallow mcp_get_prompt\n'
    async with gateway(tmp_path, rules, settings + tables) as g, g.client() as client:
        uris = await uris_of(client)
        assert len(uris) == len(set(uris)) == 6
        prompts = [each.name for each in (await client.list_prompts()).prompts]
        assert prompts == ["one__review", "one__plain", "two__review", "two__plain"]
        # What begins like the name of another server is a name within the own one.
        found = await read(client, "placet://two/placet://one/demo://note")
        assert found["contents"][0]["uri"] == "placet://two/placet://one/demo://note"


async def test_results_of_tools_name_resources_as_clients_can_read_them(tmp_path: Path) -> None:
    async with before(tmp_path) as g, g.client() as client:
        result = await client.call_tool("one__steps", {})
        link, embedded = result.content
        assert link.uri == "placet://one/demo://note"  # type: ignore[union-attr]
        assert embedded.resource.uri == "placet://one/demo://in"  # type: ignore[union-attr]


@pytest.mark.parametrize("era", ERAS)
async def test_changed_lists_are_announced(tmp_path: Path, era: Era) -> None:
    heard: set[str] = set()

    async def hear(message: Any) -> None:
        if isinstance(message, ResourceListChangedNotification):
            heard.add("resources")
        elif isinstance(message, PromptListChangedNotification):
            heard.add("prompts")

    async def listen(client: Client) -> None:
        async with client.listen(resources_list_changed=True, prompts_list_changed=True) as events:
            async for event in events:
                heard.add("resources" if "Resources" in type(event).__name__ else "prompts")

    async with before(tmp_path) as g, g.client(era, message_handler=hear) as client:
        listening = asyncio.create_task(listen(client)) if era == "auto" else None
        assert "placet://one/demo://grown" not in await uris_of(client)
        await client.call_tool("one__grow", {})
        await until(lambda: heard == {"resources", "prompts"})
        assert "placet://one/demo://grown" in await uris_of(client)
        if listening is not None:
            listening.cancel()
            await asyncio.gather(listening, return_exceptions=True)


async def test_a_list_comes_in_pages_of_bounded_size(tmp_path: Path) -> None:
    async with before(tmp_path, "many resources") as g, g.client() as client:
        found, cursor, sizes = [], None, []
        while True:
            page = await client.list_resources(cursor=cursor)
            found += [each.uri for each in page.resources]
            sizes.append(len(page.resources))
            cursor = page.next_cursor
            if cursor is None:
                break
        assert sizes == [200, 200, 50]
        assert len(set(found)) == 450
        with pytest.raises(MCPError, match="cursor"):
            await client.list_resources(cursor="-1")
    assert len(asked(tmp_path, "resources/list")) == 1


async def test_each_session_reads_in_a_session_of_its_own(tmp_path: Path) -> None:
    async with before(tmp_path) as g, g.client("legacy") as a, g.client("legacy") as b:
        texts = [(await read(one, "placet://one/demo://note"))["contents"] for one in (a, b, a)]
        pids = [contents[0]["text"] for contents in texts]
        assert pids[0] == pids[2] != pids[1]


@pytest.mark.parametrize(
    ("mode", "why", "outcome"),
    [
        ("dies on resources/read", "the server `one` did not answer", "unreachable"),
        ("garbage for resources/read", "the server's answer is not valid", "failed"),
        ("huge contents", "a message of more than", "unreachable"),
        ("tools alone", "it has no resources", "failed"),
    ],
)
async def test_a_server_that_fails_leaves_a_record_and_the_others(
    tmp_path: Path, mode: str, why: str, outcome: str
) -> None:
    tables = offering(tmp_path, mode) + offering(tmp_path, name="two")
    settings = LISTED + 'two = "one.json"\n' + tables
    async with gateway(tmp_path, "allow mcp_read_resource\n", settings) as g:
        async with g.client() as client:
            with pytest.raises(MCPError, match=why):
                await read(client, "placet://one/demo://note")
            assert (await read(client, "placet://two/demo://note"))["contents"]
        assert [each["outcome"] for each in g.records()] == [outcome, "ok"]


async def test_an_error_of_a_server_reaches_the_client_escaped(tmp_path: Path) -> None:
    async with before(tmp_path) as g, g.client() as client:
        with pytest.raises(MCPError, match=r"no such \\u\{1b\}\[31mresource"):
            await read(client, "placet://one/demo://nothing")


async def test_a_request_that_is_given_up_is_cancelled_and_hurts_no_other(tmp_path: Path) -> None:
    async with before(tmp_path, "hangs on resources/read") as g, g.client() as client:
        waiting = asyncio.create_task(read(client, "placet://one/demo://note"))
        await until(lambda: bool(asked(tmp_path, "resources/read")))
        waiting.cancel()
        await asyncio.wait({waiting})
        await until(lambda: [each["outcome"] for each in g.records()] == ["cancelled"])
        result = await client.call_tool("one__echo", {"text": "hi"})
        assert not result.is_error


@pytest.mark.parametrize(
    ("mode", "shown"),
    [
        ("hangs on resources/list", []),
        ("garbage for resources/list", []),
        ("endless resources", [f"placet://one/demo://None{'1' * n}" for n in range(100)]),
        ("odd resources", ["placet://one/demo://good"]),
    ],
)
async def test_a_list_that_cannot_be_got_keeps_no_other_from_being_shown(
    tmp_path: Path, mode: str, shown: list[str]
) -> None:
    """Of one that is odd, or goes on without end, what can be used is shown."""
    tables = offering(tmp_path, mode, listing="1s") + offering(tmp_path, name="two")
    settings = LISTED + 'two = "one.json"\n' + tables
    rules = 'allow mcp_read_resource when input.uri starts with "demo://"\n'
    async with gateway(tmp_path, rules, settings) as g, g.client() as client:
        assert await uris_of(client) == [*shown, "placet://two/demo://note"]

"""What clients ask of servers besides tools: asked about, rewritten, and compared with reviews."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from mcp import MCPError
from mcp.types import ElicitResult

from policy.generation import McpServer, StdioServer
from policy.mcp import ask_server, program_of
from policy.pins import Lock, Reviewed, accepted, definitions_of, write_lock
from tests.unit.cli.gateways import LISTED, Era, gateway
from tests.unit.cli.test_gateway_asking import User
from tests.unit.cli.test_gateway_offers import SERVER, asked, before, offering, read, uris_of
from tests.waiting import until

ERAS: tuple[Era, ...] = ("auto", "legacy")
YES = ElicitResult(action="accept", content={"approve": True})
NO = ElicitResult(action="accept", content={"approve": False, "reason": "not today"})
ASKING = '[approvals]\nstore = "../approvals.sqlite"\nask = "client"\ntimeout = "60s"\n'
READ = "read: allow mcp_read_resource\n"
GET = "get: allow mcp_get_prompt\nallow mcp one/*\n"


def locked(folder: Path, mode: str = "", *, prompts: bool = True) -> str:
    """Return a lock in which what the server declares was accepted."""
    arguments = ("-I", "-S", str(SERVER), mode, str(folder))
    server = McpServer(name="one", transport=StdioServer(command=(sys.executable, *arguments)))
    answers = ask_server(server, seconds=30)
    definitions = definitions_of(
        "one",
        tools=answers.tools,
        prompts=answers.prompts if prompts else (),
        instructions=answers.instructions,
        program=program_of(server, answers.version),
    )
    reviewed = Reviewed(by="ada", at="2026-11-22T09:30:00Z")
    return write_lock(accepted(Lock(), definitions, reviewed=reviewed)).decode()


async def lock_of(folder: Path, mode: str = "", *, prompts: bool = True) -> Mapping[str, str]:
    text = await asyncio.to_thread(locked, folder, mode, prompts=prompts)
    (folder / "asked").unlink(missing_ok=True)
    return {"tools.lock": text}


@pytest.mark.parametrize("era", ERAS)
async def test_the_user_of_the_client_is_asked(tmp_path: Path, era: Era) -> None:
    user = User(YES)
    rules = 'read: allow mcp_read_resource with approval because "people look first"\n'
    rules += "get: allow mcp_get_prompt with approval\n"
    async with (
        before(tmp_path, rules=rules, settings=LISTED + ASKING) as g,
        g.client(era, elicitation_callback=user) as client,
    ):
        listed = (await client.list_resources()).resources
        assert {json.dumps((each.meta or {})["placet"]) for each in listed} == {'{"may_ask": true}'}
        result = await client.read_resource("placet://one/demo://note")
        assert result.contents[0].uri == "placet://one/demo://note"
        assert "people look first" in user.asked[0]
        assert "demo://note" in user.asked[0]
        assert len((await client.get_prompt("one__plain")).messages) == 2
        user.answer = NO
        with pytest.raises(MCPError, match="not today"):
            await client.read_resource("placet://one/file:///etc/passwd")
        assert [each["outcome"] for each in g.records()] == ["ok", "ok", "denied"]
    assert len(asked(tmp_path, "resources/read")) == 1


async def test_a_request_is_rewritten_as_a_call_is(tmp_path: Path) -> None:
    rules = READ + 'redirect: rewrite mcp_read_resource set input.uri = "demo://other"\n'
    async with before(tmp_path, rules=rules) as g, g.client() as client:
        found = await read(client, "placet://one/demo://note")
        assert found["contents"][0]["uri"] == "placet://one/demo://other"
        assert found["_meta"]["placet"]["rewritten"] is True
    assert asked(tmp_path, "resources/read") == ['resources/read {"uri": "demo://other"}']


async def test_a_server_that_nobody_has_reviewed_is_asked_about(tmp_path: Path) -> None:
    user = User(YES)
    async with (
        before(tmp_path, rules=READ, settings=ASKING) as g,
        g.client(elicitation_callback=user) as client,
    ):
        assert (await client.read_resource("placet://one/demo://note")).contents
        (message,) = user.asked
        assert "the server has not been reviewed" in message
        (record,) = g.records()
        assert "pin" in [reason["rule"] for reason in record["reasons"]]


async def test_a_server_that_nobody_has_reviewed_can_be_denied(tmp_path: Path) -> None:
    settings = '[pins]\nnew = "deny"\n'
    async with before(tmp_path, rules=READ, settings=settings) as g, g.client() as client:
        assert await uris_of(client) == []
        with pytest.raises(MCPError, match="not-reviewed"):
            await read(client, "placet://one/demo://note")
    assert asked(tmp_path, "resources/read") == []


async def test_what_was_reviewed_is_not_asked_about(tmp_path: Path) -> None:
    files = await lock_of(tmp_path)
    async with (
        gateway(tmp_path, READ + GET, offering(tmp_path), files=files) as g,
        g.client() as client,
    ):
        assert await read(client, "placet://one/demo://note")
        assert len((await client.get_prompt("one__review")).messages) == 2
        assert [each["verdict"] for each in g.records()] == ["allow", "allow"]


async def test_a_prompt_that_was_not_reviewed_with_its_server_is_asked_about(
    tmp_path: Path,
) -> None:
    files, user = await lock_of(tmp_path, prompts=False), User(NO)
    async with (
        gateway(tmp_path, READ + GET, ASKING + offering(tmp_path), files=files) as g,
        g.client(elicitation_callback=user) as client,
    ):
        with pytest.raises(MCPError, match="not today"):
            await client.get_prompt("one__review")
        assert "the prompt has not been reviewed" in user.asked[0]
        assert await read(client, "placet://one/demo://note")
        assert len(user.asked) == 1


async def test_a_prompt_that_has_changed_since_is_neither_shown_nor_given(tmp_path: Path) -> None:
    mode = "another prompt"
    files = await lock_of(tmp_path, mode)
    async with (
        gateway(tmp_path, READ + GET, offering(tmp_path, mode), files=files) as g,
        g.client() as client,
    ):
        names = [each.name for each in (await client.list_prompts()).prompts]
        assert names == ["one__review", "one__plain"]
        await client.call_tool("one__grow", {})

        async def is_hidden() -> bool:
            names = [each.name for each in (await client.list_prompts()).prompts]
            return names == ["one__plain"]

        await until(is_hidden)
        with pytest.raises(MCPError, match="not-reviewed"):
            await client.get_prompt("one__review")
        assert (await client.get_prompt("one__plain")).messages
    assert len(asked(tmp_path, "prompts/get")) == 1


async def test_a_server_that_has_changed_since_gives_nothing(tmp_path: Path) -> None:
    files = await lock_of(tmp_path)
    text = files["tools.lock"]
    other = await lock_of(tmp_path, "rude later")  # another program: its arguments differ
    assert text != other["tools.lock"]
    async with (
        gateway(tmp_path, READ + GET, offering(tmp_path), files=other) as g,
        g.client() as client,
    ):
        assert await uris_of(client) == []
        assert (await client.list_prompts()).prompts == []
        with pytest.raises(MCPError, match="not-reviewed"):
            await read(client, "placet://one/demo://note")
        with pytest.raises(MCPError, match="not-reviewed"):
            await client.get_prompt("one__review")
    assert asked(tmp_path) == []


async def test_a_session_that_is_another_server_gives_nothing(tmp_path: Path) -> None:
    """Its instructions are other ones from the second process on, which that of the caller is."""
    mode = "rude later"
    files = await lock_of(tmp_path, mode)
    (tmp_path / "starts").unlink()
    async with (
        gateway(tmp_path, READ + GET, offering(tmp_path, mode), files=files) as g,
        g.client() as client,
    ):
        with pytest.raises(MCPError, match="not-reviewed"):
            await read(client, "placet://one/demo://note")
        (record,) = g.records()
        assert record["code"] == "not-reviewed"
    assert asked(tmp_path, "resources/read") == []

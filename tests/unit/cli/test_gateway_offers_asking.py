"""What servers ask of the client while it reads a resource or gets a prompt, in both eras."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from mcp import Client, MCPError

from tests.mcp_servers.modern import Modern, modern_server
from tests.mcp_servers.offering import ASK
from tests.unit.cli.gateways import LISTED, Era, Gateway, gateway
from tests.unit.cli.test_gateway import COMBINATIONS, Upstream
from tests.unit.cli.test_gateway_client_requests import ALL, ALLOWED, ELICIT, SAMPLE, User
from tests.unit.cli.test_gateway_offers import offering
from tests.waiting import until

RULES = ALLOWED + "allow mcp_read_resource\nallow mcp_get_prompt\n"
REFUSED = RULES.replace("models: allow", "models: deny")


@asynccontextmanager
async def asking(
    upstream: Upstream, folder: Path, rules: str = RULES, mode: str = "", more: str = ""
) -> AsyncIterator[Gateway]:
    """Run a gateway before a server that asks while it is read."""
    keys = f"client_features = {ALL}\n{more}"
    if upstream == "handshake":
        async with gateway(folder, rules, LISTED + offering(folder, mode) + keys) as g:
            yield g
        return
    async with modern_server(Modern()) as url:
        settings = LISTED + f'[mcp.servers.one]\nurl = "{url}"\n{keys}'
        async with gateway(folder, rules, settings) as g:
            yield g


async def read(client: Client, request: Any) -> Any:
    """Read a resource whose server asks first; return what it was answered."""
    uri = f"placet://one/{ASK}{quote(json.dumps(request) if request != 'error' else request)}"
    (contents,) = (await client.read_resource(uri)).contents
    return json.loads(contents.text)["result"]  # type: ignore[union-attr]


async def prompt(client: Client, request: Any) -> Any:
    """Get a prompt whose server asks first; return what it was answered."""
    found = await client.get_prompt("one__review", {"ask": json.dumps(request)})
    return json.loads(found.messages[0].content.text)["result"]  # type: ignore[union-attr]


@pytest.mark.parametrize("ask", [read, prompt])
@pytest.mark.parametrize(("era", "upstream"), COMBINATIONS)
async def test_what_rules_allow_is_asked_within_the_request(
    tmp_path: Path, era: Era, upstream: Upstream, ask: Any
) -> None:
    user = User()
    async with asking(upstream, tmp_path) as g, g.client(era, **user.callbacks) as client:
        assert await ask(client, ELICIT) == {"action": "accept", "content": {"name": "Ada"}}
        (form,) = user.asked
        assert form.message.splitlines()[1] == "> Who are you?"
        inner, outer = g.records()
        assert (inner["tool"], inner["parent"]) == ("mcp_elicit", outer["id"])


@pytest.mark.parametrize(("era", "upstream"), COMBINATIONS)
async def test_what_rules_deny_is_not_asked(tmp_path: Path, era: Era, upstream: Upstream) -> None:
    user = User()
    async with asking(upstream, tmp_path, REFUSED) as g, g.client(era, **user.callbacks) as client:
        if upstream == "stateless":
            with pytest.raises(MCPError, match="refused for the client's user"):
                await read(client, SAMPLE)
        else:
            # The server hears it, and goes on as it likes.
            with pytest.raises(KeyError):
                await read(client, SAMPLE)
        assert user.asked == []
        assert ("mcp_sample", "deny") in [(one["tool"], one["verdict"]) for one in g.records()]


@pytest.mark.parametrize("upstream", ["handshake", "stateless"])
async def test_models_with_tools_are_not_offered(tmp_path: Path, upstream: Upstream) -> None:
    user = User()
    tools = [{"name": "rm", "inputSchema": {"type": "object"}}]
    request = {**SAMPLE, "params": {**SAMPLE["params"], "tools": tools}}
    async with asking(upstream, tmp_path) as g, g.client(**user.callbacks) as client:
        with pytest.raises((MCPError, KeyError)) as refused:
            await read(client, request)
        assert upstream == "handshake" or "sampling with tools" in str(refused.value)
        assert user.asked == []


async def test_pages_that_an_error_names_are_shown_to_nobody(tmp_path: Path) -> None:
    user = User()
    async with asking("handshake", tmp_path) as g, g.client(**user.callbacks) as client:
        with pytest.raises(MCPError, match=r"pages to be opened first \(error -32042\)") as refused:
            await read(client, "error")
        assert "evil" not in str(refused.value.error)
        assert user.asked == []


async def test_roots_that_a_server_wants_at_its_start_are_asked_for_with_the_next_call(
    tmp_path: Path,
) -> None:
    user, noted = User(), tmp_path / "roots"
    shared = 'isolation = "shared"\n'
    async with (
        asking("handshake", tmp_path, mode="asks for roots", more=shared) as g,
        g.client(**user.callbacks) as client,
    ):
        await until(lambda: noted.exists() and noted.read_text().endswith("\n"))
        assert "no call is running" in noted.read_text()
        assert user.asked == []

        async def has_them() -> bool:
            await client.call_tool("one__echo", {"text": "hi"})
            last = json.loads(noted.read_text().splitlines()[-1])
            return bool(last.get("result") == {"roots": [{"uri": "file:///srv/work"}]})

        await until(has_them)
        asked = len(user.asked)
        await client.call_tool("one__echo", {"text": "hi"})
        assert len(user.asked) == asked

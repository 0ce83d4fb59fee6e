"""Resources and prompts of servers without a handshake, and of servers over a WebSocket."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal, TypeAlias

import pytest
from mcp import MCPError
from mcp.types import (
    PromptListChangedNotification,
    PromptReference,
    ResourceListChangedNotification,
    ResourceTemplateReference,
)

from tests.mcp_servers.modern import Modern, modern_server
from tests.mcp_servers.offering import Offering
from tests.mcp_servers.over_http import websocket_server
from tests.unit.cli.gateways import LISTED, Era, Gateway, gateway
from tests.unit.cli.test_gateway_offers import ERAS, RULES
from tests.unit.cli.test_gateway_subscriptions import NOTE, change, heard_by
from tests.waiting import until

Where: TypeAlias = Literal["stateless", "websocket"]
WHERE: tuple[Where, ...] = ("stateless", "websocket")


@asynccontextmanager
async def upstream(where: Where, folder: Path) -> AsyncIterator[str]:
    """Serve resources and prompts, and give the address."""
    if where == "stateless":
        async with modern_server(Modern()) as url:
            yield url
    else:
        async with websocket_server(folder, serving=Offering) as (url, _):
            yield url


@asynccontextmanager
async def before(where: Where, folder: Path) -> AsyncIterator[Gateway]:
    async with (
        upstream(where, folder) as url,
        gateway(folder, RULES, LISTED + f'[mcp.servers.one]\nurl = "{url}"\n') as g,
    ):
        yield g


@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize("era", ERAS)
async def test_what_they_offer_is_listed_read_hidden_and_refused(
    tmp_path: Path, era: Era, where: Where
) -> None:
    async with before(where, tmp_path) as g, g.client(era) as client:
        resources = (await client.list_resources()).resources
        assert [each.uri for each in resources] == [
            "placet://one/file:///srv/project/a.txt",
            NOTE,
        ]
        templates = (await client.list_resource_templates()).resource_templates
        assert [each.uri_template for each in templates] == ["placet://one/demo://{name}"]
        prompts = (await client.list_prompts()).prompts
        assert [(each.name, each.title) for each in prompts] == [("one__review", "one: Review")]
        (contents,) = (await client.read_resource(NOTE)).contents
        assert contents.uri == NOTE
        assert contents.text  # type: ignore[union-attr]
        with pytest.raises(MCPError, match="not-allowed"):
            await client.read_resource("placet://one/file:///etc/passwd")
        message = (await client.get_prompt("one__review", {"of": "a"})).messages[0]
        assert message.content.text == '{"of": "a"}'  # type: ignore[union-attr]
        with pytest.raises(MCPError, match="not-allowed"):
            await client.get_prompt("one__plain")
        for ref in (
            PromptReference(name="one__review"),
            ResourceTemplateReference(uri="placet://one/demo://{name}"),
        ):
            found = await client.complete(ref, {"name": "of", "value": "v"})
            assert found.completion.values[0].startswith("v-")
        outcomes = [one["outcome"] for one in g.records()]
        assert outcomes == ["ok", "denied", "ok", "denied", "ok", "ok"]


@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize("era", ERAS)
async def test_changes_of_their_resources_are_heard(tmp_path: Path, era: Era, where: Where) -> None:
    async with (
        before(where, tmp_path) as g,
        heard_by(g, era) as (client, heard),
        heard.subscribed(client, NOTE),
    ):
        await change(client, "demo://other", "demo://note")
        await until(lambda: heard.uris == [NOTE])


@pytest.mark.parametrize("where", WHERE)
async def test_changes_of_their_lists_are_announced(tmp_path: Path, where: Where) -> None:
    heard: set[type[Any]] = set()
    wanted = {ResourceListChangedNotification, PromptListChangedNotification}

    async def hear(message: Any) -> None:
        heard.add(type(message))

    async with (
        before(where, tmp_path) as g,
        g.client("legacy", message_handler=hear) as client,
    ):

        async def both() -> bool:
            # A stream of changes may begin after the first call.
            await client.call_tool("one__grow", {})
            return wanted <= heard

        await client.list_resources()
        heard.clear()
        await until(both)

"""Subscriptions to resources of servers behind `placet gateway`, in both eras."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, MCPError
from mcp.shared.subscriptions import ResourceUpdated
from mcp.types import (
    EmptyResult,
    ResourceUpdatedNotification,
    SubscribeRequest,
    SubscribeRequestParams,
    UnsubscribeRequest,
    UnsubscribeRequestParams,
)

from tests.unit.cli.gateways import HEADER, Era, Gateway
from tests.unit.cli.test_gateway_offers import ERAS, RULES, asked, before
from tests.waiting import until

NOTE = "placet://one/demo://note"
SECRET = "placet://one/demo://secret"


@dataclass
class Heard:
    """What a client hears, in the way of its revision."""

    era: Era
    uris: list[str] = field(default_factory=list)
    honored: list[str] = field(default_factory=list)

    async def hear(self, message: Any) -> None:
        if self.era == "legacy" and isinstance(message, ResourceUpdatedNotification):
            self.uris.append(message.params.uri)

    @asynccontextmanager
    async def subscribed(self, client: Client, *uris: str) -> AsyncIterator[None]:
        if self.era == "legacy":
            for uri in uris:
                await subscribe(client, uri)
            yield
            return
        async with client.listen(resource_subscriptions=uris) as events:
            self.honored = list(events.honored.resource_subscriptions or ())

            async def listen() -> None:
                async for event in events:
                    assert isinstance(event, ResourceUpdated)
                    self.uris.append(event.uri)

            listening = asyncio.create_task(listen())
            try:
                yield
            finally:
                listening.cancel()
                await asyncio.gather(listening, return_exceptions=True)


async def subscribe(client: Client, uri: str) -> None:
    request = SubscribeRequest(params=SubscribeRequestParams(uri=uri))
    await client.session.send_request(request, EmptyResult)


async def unsubscribe(client: Client, uri: str) -> None:
    request = UnsubscribeRequest(params=UnsubscribeRequestParams(uri=uri))
    await client.session.send_request(request, EmptyResult)


async def change(client: Client, *uris: str) -> None:
    """Have the server announce changes in the session of this client."""
    await client.call_tool("one__note", {"text": json.dumps(uris)})


@asynccontextmanager
async def heard_by(g: Gateway, era: Era) -> AsyncIterator[tuple[Client, Heard]]:
    heard = Heard(era)
    async with g.client(era, message_handler=heard.hear) as client:
        yield client, heard


@pytest.mark.parametrize("era", ERAS)
async def test_changes_of_a_resource_are_heard_by_those_who_may_read_it(
    tmp_path: Path, era: Era
) -> None:
    async with before(tmp_path) as g, heard_by(g, era) as (client, heard):
        async with heard.subscribed(client, NOTE):
            await change(client, "demo://other", "demo://note/part", "demo://notes")
            # What has changed is a part of it, and the client hears the name that it knows.
            await until(lambda: heard.uris == [NOTE])
        assert asked(tmp_path, "resources/subscribe") == [
            'resources/subscribe {"uri": "demo://note"}'
        ]
        (record,) = (one for one in g.records() if one["tool"] == "mcp_read_resource")
        assert record["outcome"] == "ok"


@pytest.mark.parametrize("era", ERAS)
async def test_a_subscription_to_what_may_not_be_read_is_refused(tmp_path: Path, era: Era) -> None:
    async with before(tmp_path) as g, heard_by(g, era) as (client, heard):
        if era == "legacy":
            for uri, why in (
                (SECRET, "denied-by-policy: it is secret"),
                ("demo://note", "not-found"),
                ("placet://one/demo://still", "it never changes"),
            ):
                with pytest.raises(MCPError, match=why):
                    await subscribe(client, uri)
        uris = (SECRET, "demo://note", "placet://one/demo://still", NOTE)
        if era == "auto":
            async with heard.subscribed(client, *uris):
                assert heard.honored == [NOTE]
                await change(client, "demo://secret", "demo://note")
                await until(lambda: heard.uris == [NOTE])
        outcomes = [one["outcome"] for one in g.records() if one["tool"] == "mcp_read_resource"]
        assert sorted({*outcomes} - {"ok"}) == ["denied", "failed", "refused"]
        assert 'resources/subscribe {"uri": "demo://secret"}' not in asked(tmp_path)


async def test_a_client_that_unsubscribes_hears_nothing_more(tmp_path: Path) -> None:
    async with before(tmp_path) as g, heard_by(g, "legacy") as (client, heard):
        await subscribe(client, NOTE)
        await unsubscribe(client, NOTE)
        await until(lambda: len(asked(tmp_path, "resources/unsubscribe")) == 1)
        await subscribe(client, "placet://one/demo://last")
        await change(client, "demo://note", "demo://last")
        await until(lambda: heard.uris == ["placet://one/demo://last"])
        await unsubscribe(client, NOTE)  # there is none any more


async def test_a_stream_that_ends_ends_its_subscriptions(tmp_path: Path) -> None:
    async with before(tmp_path) as g, heard_by(g, "auto") as (client, heard):
        async with heard.subscribed(client, NOTE):
            pass
        await until(lambda: len(asked(tmp_path, "resources/unsubscribe")) == 1)


async def test_a_session_that_ends_ends_its_subscriptions(tmp_path: Path) -> None:
    async with before(tmp_path, isolation="shared") as g, g.client() as other:
        async with heard_by(g, "legacy") as (client, _):
            await subscribe(client, NOTE)
        await until(lambda: len(asked(tmp_path, "resources/unsubscribe")) == 1)
        assert not (await other.call_tool("one__echo", {"text": "hi"})).is_error


async def test_nobody_hears_of_changes_in_the_session_of_another(tmp_path: Path) -> None:
    async with (
        before(tmp_path) as g,
        heard_by(g, "legacy") as (a, of_a),
        heard_by(g, "legacy") as (b, of_b),
    ):
        await subscribe(a, NOTE)
        await subscribe(b, NOTE)
        await change(a, "demo://note")
        await until(lambda: of_a.uris == [NOTE])
        await change(b, "demo://note")
        await until(lambda: of_b.uris == [NOTE])
        assert of_a.uris == [NOTE]


async def test_a_rule_that_takes_reading_away_ends_the_reports(tmp_path: Path) -> None:
    async with before(tmp_path) as g, heard_by(g, "legacy") as (client, heard):
        await subscribe(client, NOTE)
        rules = RULES.replace('starts with "demo://"', 'starts with "none://"')
        (tmp_path / "rules/global.policy").write_text(HEADER + rules)

        async def is_hidden() -> bool:
            uris = [one.uri for one in (await client.list_resources()).resources]
            return NOTE not in uris

        await until(is_hidden)
        await change(client, "demo://note")
        await until(lambda: len(asked(tmp_path, "resources/unsubscribe")) == 1)
        assert heard.uris == []


async def test_a_session_that_is_lost_is_subscribed_again(tmp_path: Path) -> None:
    async with before(tmp_path) as g, heard_by(g, "legacy") as (client, heard):
        await subscribe(client, NOTE)
        await client.call_tool("one__dies", {})
        # What has changed meanwhile is not known, so the client is told to look.
        await until(lambda: heard.uris == [NOTE])
        assert len(asked(tmp_path, "resources/subscribe")) == 2


async def test_a_client_has_a_bounded_number_of_subscriptions(tmp_path: Path) -> None:
    async with before(tmp_path) as g, heard_by(g, "auto") as (client, heard):
        uris = [f"placet://one/demo://{number}" for number in range(101)]
        with pytest.raises(MCPError, match="too many subscriptions"):
            async with heard.subscribed(client, *uris):
                pass
    assert asked(tmp_path) == []


async def test_a_server_that_announces_no_changes_says_so(tmp_path: Path) -> None:
    async with before(tmp_path, "tools alone") as g, heard_by(g, "legacy") as (client, _):
        with pytest.raises(MCPError, match="does not announce changes of single resources"):
            await subscribe(client, NOTE)

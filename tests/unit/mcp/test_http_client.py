"""`McpClient` over streamable HTTP: sessions that expire, credentials, and what is sent once."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from policy.generation import HttpServer, McpServer, OAuthClient, SecretReference
from policy.mcp import McpClient, McpFailure, NotSent, Uncertain
from policy.processes import RestartLimits
from tests.mcp_servers.over_http import Sessions, http_server
from tests.mcp_servers.scripted import NAMES

EAGER = RestartLimits(first_pause=0, longest_pause=0, failures=100)


@asynccontextmanager
async def client_of(transport: HttpServer) -> AsyncIterator[McpClient]:
    server = McpServer(name="web", transport=transport, isolation="shared")
    client = McpClient(server, restarts=EAGER)
    try:
        yield client
    finally:
        await client.close()


def calls(folder: Path) -> list[str]:
    return (folder / "calls").read_text().splitlines()


async def test_tools_are_listed_and_called(tmp_path: Path) -> None:
    with http_server(tmp_path) as (url, server):
        async with client_of(HttpServer(url=url)) as client:
            assert len(await client.list_tools()) == len(NAMES)
            assert await client.call_tool("echo", {"text": "hi"}) == {
                "content": [{"type": "text", "text": "hi", "vendorKey": "kept"}],
                "_meta": {"example.com/vendor": {"kept": True}},
                "vendorKey": "kept",
            }
            assert await client.check()
            assert client.status.era == "handshake"
            assert len(server.sessions) == 1
        assert server.sessions == {}


async def test_an_expired_session_is_initialised_again(tmp_path: Path) -> None:
    with http_server(tmp_path) as (url, server):
        async with client_of(HttpServer(url=url)) as client:
            await client.call_tool("echo", {"text": "one"})
            server.sessions.clear()
            result = await client.call_tool("echo", {"text": "two"})
            assert result["content"][0]["text"] == "two"
            assert calls(tmp_path) == ['echo {"text": "one"}', 'echo {"text": "two"}']
            assert client.status.sessions == 1


async def test_an_expired_session_is_found_by_a_check(tmp_path: Path) -> None:
    with http_server(tmp_path) as (url, server):
        async with client_of(HttpServer(url=url)) as client:
            await client.list_tools()
            server.sessions.clear()
            assert not await client.check()
            assert await client.check()


async def test_a_server_that_was_started_again_is_found(tmp_path: Path) -> None:
    with http_server(tmp_path) as (url, _):
        client = McpClient(
            McpServer(name="web", transport=HttpServer(url=url), isolation="shared"), restarts=EAGER
        )
        await client.call_tool("echo", {"text": "one"})
    port = int(url.split(":")[2].split("/")[0])
    with pytest.raises(NotSent, match="ConnectError"):
        await client.call_tool("echo", {"text": "lost"})
    with http_server(tmp_path, port=port):
        await client.call_tool("echo", {"text": "two"})
        await client.close()
    assert calls(tmp_path) == ['echo {"text": "one"}', 'echo {"text": "two"}']


async def test_a_call_that_may_have_run_is_not_sent_again(tmp_path: Path) -> None:
    with http_server(tmp_path) as (url, _):
        async with client_of(HttpServer(url=url)) as client:
            with pytest.raises(Uncertain):
                await client.call_tool("drops", {})
            await client.call_tool("echo", {"text": "next"})
    assert calls(tmp_path) == ["drops", 'echo {"text": "next"}']


async def test_a_token_is_sent_as_a_bearer_token(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLACET_TEST_TOKEN", "secret")
    with http_server(tmp_path, token="secret") as (url, server):
        transport = HttpServer(
            url=url, token=SecretReference(env="PLACET_TEST_TOKEN"), headers={"X-Team": "red"}
        )
        async with client_of(transport) as client:
            assert await client.list_tools()
        assert {one["authorization"] for one in server.requests} == {"Bearer secret"}
        assert {one["x-team"] for one in server.requests} == {"red"}


async def test_a_wrong_token_is_an_error_that_does_not_show_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLACET_TEST_TOKEN", "wrong-secret")
    with http_server(tmp_path, token="secret") as (url, _):
        transport = HttpServer(url=url, token=SecretReference(env="PLACET_TEST_TOKEN"))
        async with client_of(transport) as client:
            with pytest.raises(McpFailure) as caught:
                await client.list_tools()
    assert "wrong-secret" not in str(caught.value)


async def test_a_token_is_got_with_client_credentials(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLACET_TEST_SECRET", "of placet")
    with http_server(tmp_path, token="granted") as (url, server):
        oauth = OAuthClient(
            client_id="placet",
            client_secret=SecretReference(env="PLACET_TEST_SECRET"),
            issuer=server.origin,
        )
        async with client_of(HttpServer(url=url, oauth=oauth)) as client:
            assert await client.list_tools()
    sent = _authorizations(server)
    assert sent[0] is None
    assert set(sent[1:]) == {"Bearer granted"}


async def test_credentials_go_to_their_own_issuer_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLACET_TEST_SECRET", "of placet")
    with http_server(tmp_path, token="granted") as (url, server):
        oauth = OAuthClient(
            client_id="placet",
            client_secret=SecretReference(env="PLACET_TEST_SECRET"),
            issuer="https://elsewhere.example",
        )
        async with client_of(HttpServer(url=url, oauth=oauth)) as client:
            with pytest.raises(McpFailure):
                await client.list_tools()
    assert set(_authorizations(server)) == {None}


def _authorizations(server: type[Sessions]) -> list[str | None]:
    return [one.get("authorization") for one in server.requests]

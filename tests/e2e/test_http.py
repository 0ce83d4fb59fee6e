"""`placet serve` over HTTP, with real clients."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from hashlib import sha256
from pathlib import Path

import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.e2e.serving import BOTH_ERAS, ENDLESS, ENV, Era, Place, call, place_in
from tests.e2e.test_wire import send_signal
from tests.plain_http import plain_client
from tests.waiting import PATIENCE, until

TOKEN = "correct-horse-battery"
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
ACCEPT = {"Accept": "application/json, text/event-stream"}


@asynccontextmanager
async def listening(place: Place, *options: str) -> AsyncIterator[str]:
    """Give the URL of a server on a port of its own."""
    process = await asyncio.create_subprocess_exec(
        *place.command("--http", "127.0.0.1:0", *options),
        stdin=DEVNULL,
        stderr=PIPE,
        env={**os.environ, **ENV},
        cwd=place.folder,
    )
    assert process.stderr is not None
    try:
        async with asyncio.timeout(PATIENCE):
            said = ""
            while (found := re.search(r"http://\S+/mcp", said)) is None:
                said = (await process.stderr.readline()).decode()
                assert said, "the server has ended"
            yield found[0]
            process.terminate()
            _, rest = await process.communicate()
            assert process.returncode == 0
            assert b"Traceback" not in rest
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()


def token_file(place: Place) -> str:
    file = place.folder / "token"
    file.write_text(f"{TOKEN}\n", "utf-8")
    return str(file)


@asynccontextmanager
async def connected(url: str, token: str | None, era: Era) -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with (
        plain_client(headers=headers) as http,
        Client(streamable_http_client(url, http_client=http), mode=era) as client,
    ):
        yield client


@pytest.mark.parametrize("era", BOTH_ERAS)
async def test_with_its_token_a_client_is_governed(tmp_path: Path, era: Era) -> None:
    place = place_in(tmp_path)
    async with (
        listening(place, "--token-file", token_file(place)) as url,
        connected(url, TOKEN, era) as client,
    ):
        assert "file_write" in [tool.name for tool in (await client.list_tools()).tools]
        written = await call(client, "file_write", path="a.txt", content="x")
        refused = await call(client, "file_read", path="/etc/passwd")
    assert (written.verdict, refused.verdict) == ("allow", "deny")
    assert len(place.records()) == 2


async def test_without_a_token_nobody_may_call_anything(tmp_path: Path) -> None:
    place = place_in(tmp_path)
    (place.rules / "placet.toml").write_text('[serve]\nagent = "coder"\n', "utf-8")
    async with listening(place) as url, connected(url, None, "auto") as client:
        assert (await client.list_tools()).tools == []
        refused = await call(client, "file_list", path=".")
    assert (refused.verdict, refused.rules) == ("deny", ["identity"])
    (record,) = place.records()
    assert record["caller"]["role"] == "anonymous"


async def test_a_wrong_token_a_foreign_host_and_a_foreign_origin_are_turned_away(
    tmp_path: Path,
) -> None:
    place = place_in(tmp_path)
    right = {"Authorization": f"Bearer {TOKEN}", **ACCEPT}
    async with (
        listening(place, "--token-file", token_file(place)) as url,
        plain_client() as http,
    ):

        async def status(**headers: str) -> int:
            return (await http.post(url, json=PING, headers=headers)).status_code

        assert await status(**ACCEPT) == 401
        assert await status(**{**right, "Authorization": "Bearer wrong"}) == 401
        assert await status(**{**right, "Authorization": TOKEN}) == 401
        assert await status(**right, Host="evil.example") == 421
        assert await status(**right, Origin="http://evil.example") == 403
    assert not place.audit.exists()


async def test_a_second_signal_ends_open_requests_at_once_and_on_record(tmp_path: Path) -> None:
    place = place_in(tmp_path)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "policy"),
        *place.arguments("--http", "127.0.0.1:0", "--token-file", token_file(place)),
        stdin=DEVNULL,
        stderr=PIPE,
        env={**os.environ, **ENV},
        cwd=place.folder,
    )
    assert process.stderr is not None
    try:
        async with asyncio.timeout(PATIENCE):
            said = ""
            while (found := re.search(r"http://\S+/mcp", said)) is None:
                said = (await process.stderr.readline()).decode()
            with suppress(Exception):  # how the connection breaks is of no interest
                async with connected(found[0], TOKEN, "legacy") as client:
                    calling = asyncio.create_task(call(client, "bash_exec", command=ENDLESS))
                    begun = place.workspace / "begun"
                    await until(begun.exists)
                    while process.returncode is None:
                        send_signal(process, signal.SIGTERM)
                        await asyncio.sleep(0.05)
                    calling.cancel()
            _, rest = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()
    assert process.returncode in (0, -signal.SIGTERM)
    assert b"Traceback" not in rest
    (record,) = place.records()
    assert (record["tool"], record["outcome"]) == ("bash_exec", "cancelled")


async def test_an_edit_that_removes_a_client_and_tightens_a_rule_does_not_wait(
    tmp_path: Path,
) -> None:
    place = place_in(tmp_path, "policy for every agent\ndefault deny\nallow file_list, file_read\n")
    settings = place.rules / "placet.toml"
    digests = {one: sha256(f"{TOKEN}-{one}".encode()).hexdigest() for one in ("kept", "removed")}
    kept, removed = (
        f'[serve.clients.{name}]\ntoken = "sha256:{digest}"\n' for name, digest in digests.items()
    )
    settings.write_text(f'[reload]\nloosening = "refuse"\n{kept}{removed}')

    async with listening(place) as url, plain_client(headers=ACCEPT) as http:

        async def is_known(name: str) -> bool:
            bearer = {"Authorization": f"Bearer {TOKEN}-{name}"}
            return (await http.post(url, json=PING, headers=bearer)).status_code != 401

        async def is_refused() -> bool:
            return not await is_known("removed")

        assert await is_known("removed")
        settings.write_text(f'[reload]\nloosening = "refuse"\n{kept}')
        (place.rules / "global.policy").write_text(
            "policy for every agent\ndefault deny\nallow file_list\n"
        )
        await until(is_refused)
        async with connected(url, f"{TOKEN}-kept", "auto") as client:

            async def is_listed_alone() -> bool:
                return [tool.name for tool in (await client.list_tools()).tools] == ["file_list"]

            await until(is_listed_alone)

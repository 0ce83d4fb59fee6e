"""A client that disconnects while its call waits for approval withdraws the request."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from policy.approvals import AnswerRefused, ApprovalGate, Filed, Person, SqliteApprovals
from tests.e2e.serving import ENV, ROOT, Era, Place, call, place_in, served
from tests.e2e.test_http import ACCEPT, TOKEN, connected, listening, token_file
from tests.plain_http import plain_client
from tests.waiting import PATIENCE, until

SETTINGS = '[approvals]\nstore = "../state/approvals.sqlite"\ntimeout = "60s"\n'
ERAS: tuple[Era, ...] = ("auto", "legacy")
ASK = {"name": "file_delete", "arguments": {"path": "a.txt"}}
LEGACY = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "t", "version": "1"},
}
CLIENT = """
import asyncio, sys
from tests.e2e.test_http import connected

async def main(url, token, era):
    async with connected(url, token, era) as client:
        await client.call_tool("file_delete", {"path": "a.txt"})

asyncio.run(main(*sys.argv[1:]))
"""


@pytest.fixture
def place(tmp_path: Path) -> Place:
    found = place_in(tmp_path)
    (found.rules / "placet.toml").write_text(SETTINGS, "utf-8")
    (found.workspace / "a.txt").write_text("x", "utf-8")
    (tmp_path / "state").mkdir(mode=0o700)
    return found


class Desk:
    """What people see of the questions, from another process than the server."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self._gate = ApprovalGate(SqliteApprovals(place.folder / "state" / "approvals.sqlite"))

    async def asked(self) -> Filed:
        """Return the question that waits, once there is one."""
        return (await until(self._gate.pending))[0]

    async def is_withdrawn(self, id: str) -> bool:
        """Wait until a question waits no more; tell whether it can be answered no longer."""

        async def withdrawn() -> bool:
            return not await self._gate.pending()

        await until(withdrawn)
        with pytest.raises(AnswerRefused):
            await self._gate.approve(id, Person(id="ada"))
        filed = await self._gate.get(id)
        return filed is not None and filed.state == "cancelled"

    async def agree(self, id: str) -> None:
        await self._gate.approve(id, Person(id="ada"))

    async def ended(self, count: int = 1) -> list[str]:
        """Return the outcomes of the calls, once so many are recorded."""

        async def outcomes() -> list[str]:
            found = self.place.records() if self.place.audit.exists() else []
            return [record["outcome"] for record in found] if len(found) >= count else []

        return await until(outcomes)


@asynccontextmanager
async def http(place: Place) -> AsyncIterator[str]:
    async with listening(place, "--token-file", token_file(place)) as url:
        yield url


def untouched(place: Place) -> bool:
    return (place.workspace / "a.txt").exists()


async def test_a_client_that_dies_takes_its_question_back(place: Place) -> None:
    desk = Desk(place)
    async with http(place) as url:
        for number, era in enumerate(ERAS, 1):
            client = await asyncio.create_subprocess_exec(
                *(sys.executable, "-c", CLIENT, url, TOKEN, era),
                cwd=ROOT,
                env={**os.environ, **ENV},
                stdin=DEVNULL,
                stderr=PIPE,
            )
            asked = await desk.asked()
            client.send_signal(signal.SIGKILL)
            await client.communicate()
            assert await desk.is_withdrawn(asked.request.id)
            assert await desk.ended(number) == ["cancelled"] * number
    assert untouched(place)


async def test_a_client_that_gives_up_takes_its_question_back(place: Place) -> None:
    desk = Desk(place)
    async with http(place) as url:
        for era in ERAS:
            async with connected(url, TOKEN, era) as client:
                waiting = asyncio.create_task(client.call_tool(**_named(ASK)))
                asked = await desk.asked()
                waiting.cancel()
                assert await desk.is_withdrawn(asked.request.id)
                assert not (await call(client, "file_list", path=".")).error
    assert untouched(place)


async def test_over_stdio_too(place: Place) -> None:
    desk = Desk(place)
    async with served(place) as client:
        waiting = asyncio.create_task(client.call_tool(**_named(ASK)))
        asked = await desk.asked()
        waiting.cancel()
        assert await desk.is_withdrawn(asked.request.id)
        assert not (await call(client, "file_list", path=".")).error
    assert untouched(place)


async def test_the_end_of_the_input_takes_every_question_back(place: Place) -> None:
    desk = Desk(place)
    process = await asyncio.create_subprocess_exec(
        *place.command(),
        stdin=PIPE,
        stdout=PIPE,
        stderr=PIPE,
        cwd=place.folder,
        env={**os.environ, **ENV},
    )
    assert process.stdin is not None
    for message in (_request(1, "initialize", LEGACY), _request(2, "tools/call", ASK)):
        process.stdin.write(httpx2.Request("POST", "http://x", json=message).read() + b"\n")
    asked = await desk.asked()
    process.stdin.close()
    async with asyncio.timeout(PATIENCE):
        assert await desk.is_withdrawn(asked.request.id)
        await process.communicate()
    assert await desk.ended() == ["cancelled"]
    assert process.returncode == 0


async def test_a_session_that_is_ended_takes_its_question_back(place: Place) -> None:
    desk = Desk(place)
    async with http(place) as url, _session(url) as (client, headers):
        waiting = asyncio.create_task(
            client.post(url, json=_request(2, "tools/call", ASK), headers=headers)
        )
        asked = await desk.asked()
        assert (await client.delete(url, headers=headers)).status_code == 200
        assert await desk.is_withdrawn(asked.request.id)
        await asyncio.wait({waiting})
        assert "structuredContent" not in waiting.result().text
    assert untouched(place)


async def test_a_client_hears_of_a_call_that_waits(place: Place) -> None:
    desk, heard = Desk(place), asyncio.Queue[tuple[float, str | None]]()

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.put_nowait((progress, message))

    async with http(place) as url:
        for era in ERAS:
            (place.workspace / "a.txt").write_text("x", "utf-8")
            async with connected(url, TOKEN, era) as client:
                waiting = asyncio.create_task(
                    client.call_tool(**_named(ASK), progress_callback=hear)
                )
                asked = await desk.asked()
                async with asyncio.timeout(PATIENCE):
                    progress, message = await heard.get()
                await desk.agree(asked.request.id)
                result = await waiting
            assert progress >= 1
            assert message == "the call has not ended; it may wait for an approval"
            assert not result.is_error
            assert not untouched(place)
            while not heard.empty():
                heard.get_nowait()


async def test_an_id_that_is_in_use_is_refused(place: Place) -> None:
    """Three requests with one id are one call, of which one is answered."""
    desk = Desk(place)
    async with http(place) as url, _session(url) as (client, headers):

        async def ask() -> str:
            message = _request(7, "tools/call", ASK)
            return (await client.post(url, json=message, headers=headers)).text

        first = asyncio.create_task(ask())
        asked = await desk.asked()
        for _ in range(2):
            assert "has not been answered yet" in await ask()
        await desk.agree(asked.request.id)
        async with asyncio.timeout(PATIENCE):
            assert '"deleted":true' in await first
    assert [record["outcome"] for record in place.records()] == ["ok"]


async def test_an_id_that_is_in_use_is_refused_over_stdio_too(place: Place) -> None:
    process = await asyncio.create_subprocess_exec(
        *place.command(),
        stdin=PIPE,
        stdout=PIPE,
        stderr=PIPE,
        cwd=place.folder,
        env={**os.environ, **ENV},
    )
    assert process.stdin is not None and process.stdout is not None
    desk = Desk(place)
    for message in (_request(1, "initialize", LEGACY), *[_request(7, "tools/call", ASK)] * 3):
        process.stdin.write(httpx2.Request("POST", "http://x", json=message).read() + b"\n")
    async with asyncio.timeout(PATIENCE):
        asked = await desk.asked()
        said = [await process.stdout.readline() for _ in range(3)]
        await desk.agree(asked.request.id)
        said.append(await process.stdout.readline())
        process.stdin.close()
        await process.communicate()
    assert [b"has not been answered yet" in line for line in said] == [False, True, True, False]
    assert b'"deleted":true' in said[3].replace(b" ", b"")
    assert [record["outcome"] for record in place.records()] == ["ok"]


def _named(params: dict[str, Any]) -> dict[str, Any]:
    return {"name": params["name"], "arguments": params["arguments"]}


def _request(id: int, method: str, params: dict[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params}


@asynccontextmanager
async def _session(url: str) -> AsyncIterator[tuple[httpx2.AsyncClient, dict[str, str]]]:
    """Give an HTTP client, and the headers of a session of its own."""
    headers = {"Authorization": f"Bearer {TOKEN}", **ACCEPT}
    async with plain_client(timeout=PATIENCE) as client:
        begun = await client.post(url, json=_request(1, "initialize", LEGACY), headers=headers)
        headers["Mcp-Session-Id"] = begun.headers["mcp-session-id"]
        note = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        assert (await client.post(url, json=note, headers=headers)).status_code == 202
        yield client, headers

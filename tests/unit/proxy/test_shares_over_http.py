"""What one client does over HTTP, and another one beside it that is served all the same."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from typing import Any
from urllib.parse import urlsplit

import pytest
from starlette.requests import ClientDisconnect
from starlette.types import Message, Receive, Scope, Send

from policy.proxy import Identity
from policy.proxy.request_shares import RequestShares
from tests.plain_http import plain_client
from tests.unit.proxy.listening import listening
from tests.waiting import skip_time, until

PATIENCE = 300.0
OPENING = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
PING = {"jsonrpc": "2.0", "id": 2, "method": "ping"}


class EachOne:
    """Identities of a server in which every token is its owner's name."""

    required = True

    async def identity_of(self, token: bytes) -> Identity | None:
        """Return whom a token belongs to."""
        return Identity(name=token.decode())


def headers_of(name: str, session: str | None = None) -> dict[str, str]:
    return {
        "Authorization": f"Bearer {name}",
        "Accept": "application/json, text/event-stream",
        "Content-Type": "application/json",
        **({} if session is None else {"Mcp-Session-Id": session}),
    }


async def sent(url: str, message: Any, name: str, session: str | None = None) -> Any:
    async with plain_client(headers=headers_of(name, session), timeout=PATIENCE) as client:
        return await client.post(url, json=message)


async def opened(url: str, name: str) -> str:
    """Return the id of a new session."""
    response = await sent(url, OPENING, name)
    assert response.status_code == 200, response.text
    return str(response.headers["mcp-session-id"])


class Unfinished:
    """A request whose body does not end."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self._writer = writer

    @classmethod
    async def of(cls, url: str, name: str, *, length: int, body: bytes) -> Unfinished:
        """Send the head of a request, and so much of its body."""
        where = urlsplit(url)
        reader, writer = await asyncio.open_connection(where.hostname, where.port)
        head = {"Host": where.netloc, "Content-Length": str(length), **headers_of(name)}
        lines = "".join(f"{key}: {value}\r\n" for key, value in head.items())
        writer.write(f"POST {where.path} HTTP/1.1\r\n{lines}\r\n".encode() + body)
        return cls(reader, writer)

    async def status(self) -> int:
        """Return the status of the answer, after which the connection is closed."""
        line = await self.reader.readline()
        rest = await self.reader.read()
        assert b"connection: close" in rest.lower()
        return int(line.split()[1])

    def close(self) -> None:
        """Hang up."""
        self._writer.close()


async def test_a_body_that_does_not_end_in_time_is_given_up() -> None:
    async with listening(EachOne(), patience=PATIENCE) as url:
        slow = await Unfinished.of(url, "slow", length=100, body=b"{")
        status = asyncio.create_task(slow.status())
        assert (await sent(url, PING, "ada")).status_code != 408
        skip_time(61)
        async with asyncio.timeout(30):
            assert await status == 408
        slow.close()


async def test_a_body_that_says_it_is_too_large_is_refused_unread() -> None:
    async with listening(EachOne(), patience=PATIENCE) as url:
        large = await Unfinished.of(url, "large", length=4_000_001, body=b"{")
        assert await large.status() == 413
        large.close()


async def test_what_unfinished_bodies_hold_is_bounded_for_each_client(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("policy.proxy.http._MOST_BYTES", 32_000)
    async with listening(EachOne(), patience=PATIENCE) as url:
        held = [await Unfinished.of(url, "greedy", length=9_000, body=b" " * 8_000) for _ in "ab"]
        await until(lambda: _is_refused(url, "greedy", b" " * 8_000))
        assert (await sent(url, PING, "ada")).status_code not in (408, 413, 429)
        for one in held:
            one.close()
        await opened(url, "greedy")


async def _is_refused(url: str, name: str, body: bytes) -> bool:
    one = await Unfinished.of(url, name, length=len(body) + 1, body=body)
    try:
        async with asyncio.timeout(0.2):
            return await one.status() == 429
    except TimeoutError:
        return False
    finally:
        one.close()


async def test_a_client_that_opens_too_many_sessions_loses_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("policy.proxy.http._MOST_SESSIONS", 32)
    async with listening(EachOne(), patience=PATIENCE) as url:
        of_ada = await opened(url, "ada")
        sessions = [await opened(url, "greedy") for _ in range(40)]
        found = [(await sent(url, PING, "greedy", one)).status_code for one in sessions]
        assert set(found[:20]) == {404}
        assert found[-1] == 200
        assert found.count(200) <= 16
        assert (await sent(url, PING, "ada", of_ada)).status_code == 200
        await opened(url, "bob")


async def test_sessions_in_use_are_not_ended_for_new_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("policy.proxy.http._MOST_SESSIONS", 4)
    async with listening(EachOne(), patience=PATIENCE) as url, AsyncExitStack() as stack:
        for _ in range(2):
            headers = headers_of("greedy", await opened(url, "greedy"))
            client = await stack.enter_async_context(
                plain_client(headers=headers, timeout=PATIENCE)
            )
            stream = await stack.enter_async_context(client.stream("GET", url))
            assert stream.status_code == 200
        refused = await sent(url, OPENING, "greedy")
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "5")
        assert "end some of them" in refused.json()["error"]
        await opened(url, "ada")


async def test_open_requests_are_bounded_for_each_client(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("policy.proxy.http._MOST_REQUESTS", 4)
    async with listening(EachOne(), patience=PATIENCE) as url:
        held = [await Unfinished.of(url, "greedy", length=9, body=b"") for _ in range(2)]
        await until(lambda: _is_refused(url, "greedy", b""))
        await opened(url, "ada")
        for one in held:
            one.close()


async def test_long_messages_of_one_client_take_turns_while_there_are_others() -> None:
    held, served = [asyncio.Event(), asyncio.Event()], list[str]()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        served.append(scope["client"][0])
        if scope["client"][0] == "greedy" and held:
            await held.pop(0).wait()

    requests = RequestShares(app, requests=100, bytes=1_000_000, largest=1_000_000)

    def sent_by(name: str, size: int) -> asyncio.Task[None]:
        async def receive() -> Message:
            return {"type": "http.request", "body": b" " * size, "more_body": False}

        async def send(message: Message) -> None:
            raise AssertionError(message)

        scope = {"type": "http", "method": "POST", "client": (name, 1), "headers": []}
        return asyncio.create_task(requests(scope, receive, send))

    first, second = held
    alone = [sent_by("greedy", 9_000) for _ in range(2)]
    await until(lambda: served == ["greedy", "greedy"])
    first.set()
    second.set()
    await asyncio.gather(*alone)

    held.append(third := asyncio.Event())
    await sent_by("ada", 10)
    beside = [sent_by("greedy", 9_000) for _ in range(2)]
    await sent_by("ada", 9_000)
    await sent_by("greedy", 10)
    assert served[2:] == ["ada", "greedy", "ada", "greedy"]
    third.set()
    await asyncio.gather(*beside)
    assert served[6:] == ["greedy"]


async def test_a_long_message_whose_call_waits_keeps_the_next_one_waiting_for_a_moment_only() -> (
    None
):
    begun, go = list[str](), asyncio.Event()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        begun.append(scope["client"][0])
        if scope["client"][0] == "greedy":
            await go.wait()

    requests = RequestShares(app, requests=100, bytes=1_000_000, largest=1_000_000)

    async def receive() -> Message:
        return {"type": "http.request", "body": b" " * 9_000, "more_body": False}

    async def send(message: Message) -> None:
        raise AssertionError(message)

    def sent_by(name: str) -> asyncio.Task[None]:
        scope = {"type": "http", "method": "POST", "client": (name, 1), "headers": []}
        return asyncio.create_task(requests(scope, receive, send))

    await sent_by("ada")
    waiting = [sent_by("greedy") for _ in range(3)]
    await until(lambda: begun == ["ada", "greedy", "greedy", "greedy"])
    go.set()
    await asyncio.gather(*waiting)


async def test_idle_connections_are_bounded_for_each_client(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("policy.proxy.http._MOST_IDLE", 4)
    async with listening(EachOne(), patience=PATIENCE) as url, AsyncExitStack() as stack:
        where, ping = urlsplit(url), b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}'
        closed = []
        for name in ("greedy",) * 6 + ("ada",):
            one = await Unfinished.of(url, name, length=len(ping), body=ping)
            stack.callback(one.close)
            while await one.reader.readline() not in (b"\r\n", b""):
                pass
            closed.append(asyncio.create_task(one.reader.read()))
        assert where.port
        await until(lambda: sum(task.done() for task in closed) == 4)
        assert not closed[-1].done()
        for task in closed:
            task.cancel()


class Reader:
    """A client that reads an answer up to so many pieces, and the rest when it is told to."""

    def __init__(self, pieces: int) -> None:
        self.read = 0
        self.goes_on = asyncio.Event()
        self._pieces = pieces

    async def send(self, message: Message) -> None:
        if self._pieces == 0:
            await self.goes_on.wait()
        else:
            self._pieces -= 1
        self.read += len(message.get("body", b""))


def answering(*, size: int, bytes: int) -> RequestShares:
    """Return an application with long answers."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"x" * size})

    return RequestShares(app, requests=100, bytes=bytes, largest=1_000)


def request_of(shares: RequestShares, name: str, reader: Reader) -> asyncio.Task[None]:
    """Begin a request of a client."""
    scope = {"type": "http", "method": "GET", "headers": [], "client": (name, 1)}

    async def nothing() -> Message:
        return {"type": "http.request"}

    return asyncio.create_task(shares(scope, nothing, reader.send))


async def test_an_answer_is_sent_as_fast_as_its_client_reads() -> None:
    shares, slow = answering(size=3_000_000, bytes=16_000_000), Reader(pieces=3)
    request = request_of(shares, "slow", slow)
    for _ in range(10):
        await asyncio.sleep(0)
    assert 0 < slow.read <= 3 * 65_536
    slow.goes_on.set()
    await request
    assert slow.read == 3_000_000


async def test_what_a_client_does_not_read_counts_for_it_alone() -> None:
    shares = answering(size=900_000, bytes=16_000_000)
    slow = [Reader(pieces=1) for _ in range(12)]
    unread = [request_of(shares, "slow", reader) for reader in slow]
    for _ in range(10):
        await asyncio.sleep(0)
    given_up = [one for one in unread if one.done()]
    # Half of it is for whoever comes first.
    assert len(given_up) == 4
    assert all(isinstance(one.exception(), ClientDisconnect) for one in given_up)
    ada = Reader(pieces=100)
    await request_of(shares, "ada", ada)
    assert ada.read == 900_000
    for reader in slow:
        reader.goes_on.set()
    await asyncio.gather(*unread, return_exceptions=True)
    assert [reader.read for reader in slow] == [*[900_000] * 8, *[0] * 4]
    await request_of(shares, "slow", ada)


async def test_a_client_that_does_not_read_is_given_up_in_time() -> None:
    shares, slow = answering(size=900_000, bytes=16_000_000), Reader(pieces=2)
    request = request_of(shares, "slow", slow)
    for _ in range(10):
        await asyncio.sleep(0)
    skip_time(61)
    with pytest.raises(ClientDisconnect):
        await request


async def test_a_session_keeps_little_of_what_its_client_tells_of_itself() -> None:
    long = {"name": "x" * 20_000, "version": "1"}
    message = {**OPENING, "params": {**OPENING["params"], "clientInfo": long}}  # type: ignore[dict-item]
    async with listening(EachOne(), patience=PATIENCE) as url:
        refused = await sent(url, message, "ada")
        assert refused.status_code == 413
        assert "opens a session" in refused.text
        await opened(url, "ada")

"""`web_fetch` against a real server on this machine."""

from __future__ import annotations

import asyncio
import gzip
import tracemalloc
import zlib
from collections.abc import AsyncIterator
from typing import Any

import pytest

from policy.environment import JudgedHosts
from policy.model import Execution, Facts, Resolvers, Timeout, Transport
from policy.tools import ExecutionContext, Limits
from policy.tools.handlers.web import web_fetch


class Server:
    """Answers every request with `answer`, and keeps what it was sent."""

    def __init__(self) -> None:
        self.requests: list[str] = []
        self.answer = b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello"
        self.silent = False
        self.port = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            self.requests.append(head.decode("latin-1"))
            if self.silent:
                await reader.read()
            else:
                writer.write(self.answer)
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    kept = Server()
    listening = await asyncio.start_server(kept.serve, "127.0.0.1", 0)
    kept.port = listening.sockets[0].getsockname()[1]
    yield kept
    listening.close()


# Of no account to what answers or refuses: the first fetch of a process reads all certificates
# that are trusted and imports its transport, which takes as long as the machine is busy.
_AMPLE = 600


async def fetch(
    url: str,
    *,
    addresses: tuple[str, ...] | None = None,
    seconds: float = _AMPLE,
    **more: Any,
) -> Any:
    facts = Facts(resolvers=Resolvers(host=lambda name: addresses))
    tool = web_fetch(Limits(body=100, web_seconds=seconds))
    return await tool({"url": url, **more}, ExecutionContext(facts=facts))


async def test_a_page_is_fetched(server: Server) -> None:
    result = await fetch(f"http://127.0.0.1:{server.port}/a?b=c", headers={"X-Mine": "1"})
    assert (result["status"], result["body"], result["truncated"]) == (200, "hello", False)
    assert server.requests[0].startswith("GET /a?b=c HTTP/1.1\r\n")
    assert "x-mine: 1" in server.requests[0].lower()


async def test_the_connection_goes_to_the_judged_address_under_the_hosts_name(
    server: Server,
) -> None:
    # The name exists nowhere: only what was judged can have led here.
    url = f"http://name.invalid:{server.port}/"
    assert (await fetch(url, addresses=("127.0.0.1",)))["status"] == 200
    assert f"host: name.invalid:{server.port}" in server.requests[0].lower()


async def test_an_address_that_does_not_answer_gives_way_to_the_next(server: Server) -> None:
    url = f"http://name.invalid:{server.port}/"
    assert (await fetch(url, addresses=("127.0.0.2", "127.0.0.1")))["status"] == 200


async def test_a_name_that_did_not_resolve_when_it_was_judged_is_not_tried_again() -> None:
    hosts = JudgedHosts()
    hosts.learn({"name.invalid": None})
    ctx = ExecutionContext(facts=Facts(resolvers=Resolvers(host=hosts)))
    with pytest.raises(Transport, match="does not resolve"):
        await web_fetch(Limits())({"url": "http://name.invalid:9/"}, ctx)


async def test_a_redirect_wants_another_call_and_makes_none(server: Server) -> None:
    server.answer = (
        b"HTTP/1.1 302 Found\r\nlocation: http://169.254.169.254/\r\ncontent-length: 0\r\n\r\n"
    )
    result = await fetch(f"http://127.0.0.1:{server.port}/")
    assert result.then.input == {"url": "http://169.254.169.254/"}
    assert (result.value["status"], result.value["location"]) == (302, "http://169.254.169.254/")
    assert len(server.requests) == 1


async def test_a_redirect_to_nowhere_is_an_answer(server: Server) -> None:
    for head in (b"302 Found\r\nlocation: http://[", b"302 Found", b"304 Not Modified", b"300 X"):
        server.answer = b"HTTP/1.1 " + head + b"\r\ncontent-length: 0\r\n\r\n"
        assert (await fetch(f"http://127.0.0.1:{server.port}/"))["status"] in (300, 302, 304)


async def test_localhost_is_this_machine_whatever_a_resolver_says(server: Server) -> None:
    url = f"http://app.localhost:{server.port}/"
    assert (await fetch(url, addresses=("203.0.113.1",)))["status"] == 200


async def test_what_is_sent_is_the_url_as_it_was_judged(server: Server) -> None:
    await fetch(f"http://127.1:{server.port}/a/./b/../c?q=%20#f")
    assert server.requests[0].startswith("GET /a/c?q=%20 HTTP/1.1\r\n")
    assert f"host: 127.0.0.1:{server.port}\r\n" in server.requests[0].lower()


def packed(encoding: str, body: bytes) -> bytes:
    head = f"HTTP/1.1 200 OK\r\ncontent-encoding: {encoding}\r\ncontent-length: {len(body)}\r\n\r\n"
    return head.encode() + body


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("gzip", gzip.compress(b"hello", mtime=0)),
        ("GZIP", gzip.compress(b"hel", mtime=0) + gzip.compress(b"lo", mtime=0)),
        ("x-gzip", gzip.compress(b"hello", mtime=0) + b"\0\0"),
        ("deflate", zlib.compress(b"hello")),
        ("deflate", zlib.compress(b"hello")[2:-4]),
        ("identity", b"hello"),
    ],
)
async def test_a_packed_body_is_unpacked(server: Server, encoding: str, body: bytes) -> None:
    server.answer = packed(encoding, body)
    result = await fetch(f"http://127.0.0.1:{server.port}/")
    assert (result["body"], result["truncated"]) == ("hello", False)


async def test_a_bomb_is_unpacked_only_up_to_the_limit(server: Server) -> None:
    server.answer = packed("gzip", gzip.compress(b"x" * 50_000_000))
    tracemalloc.start()
    result = await fetch(f"http://127.0.0.1:{server.port}/")
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (result["body"], result["truncated"]) == ("x" * 100, True)
    assert most < 10_000_000


async def test_an_endless_body_of_nothing_is_cut(server: Server) -> None:
    server.answer = packed("gzip", gzip.compress(b"") * 10_000)
    assert (await fetch(f"http://127.0.0.1:{server.port}/"))["truncated"]


@pytest.mark.parametrize("encoding", ["gzip, gzip", "br", "zstd", "gzip", "compress"])
async def test_what_was_not_asked_for_or_is_broken_is_not_unpacked(
    server: Server, encoding: str
) -> None:
    server.answer = packed(encoding, b"not packed at all")
    with pytest.raises(Transport, match="body"):
        await fetch(f"http://127.0.0.1:{server.port}/")


@pytest.mark.parametrize("charset", ["punycode", "rot13", "nonsense", "idna", "hex"])
async def test_an_odd_charset_is_passed_over(server: Server, charset: str) -> None:
    head = f"HTTP/1.1 200 OK\r\ncontent-type: text/plain; charset={charset}\r\n"
    server.answer = head.encode() + b"content-length: 5\r\n\r\nhello"
    assert (await fetch(f"http://127.0.0.1:{server.port}/"))["body"] == "hello"


async def test_ipv6_is_fetched() -> None:
    kept = Server()
    listening = await asyncio.start_server(kept.serve, "::1", 0)
    port = listening.sockets[0].getsockname()[1]
    async with listening:
        assert (await fetch(f"http://[0:0::1]:{port}/"))["status"] == 200
    assert f"host: [::1]:{port}\r\n" in kept.requests[0].lower()


async def test_a_body_is_kept_only_up_to_its_limit(server: Server) -> None:
    server.answer = b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n" + b"x" * 1_000
    result = await fetch(f"http://127.0.0.1:{server.port}/")
    assert result["body"] == "x" * 100
    assert result["truncated"]


async def test_a_silent_server_ends_in_a_timeout(server: Server) -> None:
    server.silent = True
    with pytest.raises(Timeout):
        await fetch(f"http://127.0.0.1:{server.port}/", seconds=0.1)


async def test_proxies_of_the_environment_are_not_used(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9/")
    assert (await fetch(f"http://127.0.0.1:{server.port}/"))["status"] == 200


@pytest.mark.parametrize(
    "url",
    ["file:///etc/passwd", "ftp://a.example/", "http://", "nonsense", "http://u:p@127.0.0.1/"],
)
async def test_what_is_no_plain_web_address_is_refused(url: str) -> None:
    with pytest.raises((Execution, Transport)):
        await fetch(url, addresses=("127.0.0.1",))


@pytest.mark.parametrize("name", ["Host", "content-length", "Transfer-Encoding ", "connection"])
async def test_headers_that_route_or_frame_are_refused(name: str) -> None:
    with pytest.raises(Execution, match="headers"):
        await fetch("http://127.0.0.1:9/", headers={name: "x"})


@pytest.mark.parametrize("header", [("a\r\nb", "x"), ("a", "x\r\nInjected: 1"), ("ä", "x")])
async def test_headers_cannot_smuggle_lines(server: Server, header: tuple[str, str]) -> None:
    with pytest.raises((Execution, Transport)):
        await fetch(f"http://127.0.0.1:{server.port}/", headers={header[0]: header[1]})
    assert server.requests == []


async def test_a_dead_server_is_unreachable() -> None:
    with pytest.raises(Transport):
        await fetch("http://127.0.0.1:9/")

"""The proxy of confined programs: what it passes on, and what it refuses."""

from __future__ import annotations

import asyncio
import ssl
import struct
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from policy.sandbox.network.bounds import ProxyBounds
from policy.sandbox.network.connecting import RefusedConnection
from tests.unit.sandbox.network.stand_ins import (
    Elsewhere,
    answering,
    certificate_of,
    elsewhere,
    proxied,
)
from tests.unit.sandbox.network.test_server_name import hello, with_extension


@pytest.fixture
async def hosts() -> AsyncIterator[Elsewhere]:
    async with elsewhere() as hosts:
        await hosts.serve("a.test", 80, answering)
        await hosts.serve("b.test", 8080, answering)
        yield hosts


async def said(port: int, sent: bytes, *, seconds: float = 10.0) -> bytes:
    """Send bytes to the proxy, and return all that it answers."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(sent)
        async with asyncio.timeout(seconds):
            return await reader.read()
    finally:
        writer.close()


def get(url: str, *more: str, host: str | None = None, last: bool = True) -> bytes:
    host = host or url.split("/")[2]
    close = ("Connection: close",) if last else ()
    return "\r\n".join((f"GET {url} HTTP/1.1", f"Host: {host}", *close, *more, "", "")).encode()


async def test_a_request_is_passed_on_as_the_server_expects_it(hosts: Elsewhere) -> None:
    async with proxied(hosts) as (_, port):
        answer = await said(port, get("http://a.test/x?y=1"))
    assert answer.startswith(b"HTTP/1.1 200 OK")
    assert answer.endswith(b"GET /x?y=1 HTTP/1.1 ")


async def test_each_request_of_a_connection_goes_to_its_own_host(hosts: Elsewhere) -> None:
    async with proxied(hosts) as (_, port):
        answer = await said(
            port,
            get("http://a.test/1", last=False)
            + get("http://a.test/2", last=False)
            + get("http://b.test:8080/3", last=False)
            + get("http://c.test/4"),
        )
    assert [answer.count(b"GET /%d " % number) for number in (1, 2, 3, 4)] == [1, 1, 1, 0]
    # The second one uses the connection of the first.
    assert [each.text for each in hosts.asked] == ["a.test:80", "b.test:8080", "c.test:80"]
    assert answer.endswith(b"the sandbox does not connect to c.test:80: no rule allows this\n")


async def test_a_refusal_stands_in_the_reason_too(hosts: Elsewhere) -> None:
    sentence = b"the sandbox does not connect to c.test:443: no rule allows this"
    async with proxied(hosts) as (proxy, port):
        answer = await said(port, b"CONNECT c.test:443 HTTP/1.1\r\nHost: c.test:443\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 403 " + sentence + b"\r\n")
    assert answer.endswith(sentence + b"\n")
    assert proxy.refused == (
        RefusedConnection(target="c.test:443", why="no rule allows this", rule="only_a"),
    )


async def test_the_same_refusal_is_kept_once(hosts: Elsewhere) -> None:
    async with proxied(hosts, ProxyBounds(refusals=2)) as (proxy, port):
        for name in ("c", "c", "d", "e"):
            await said(port, get(f"http://{name}.test/"))
    assert [each.target for each in proxy.refused] == ["c.test:80", "d.test:80"]


async def test_a_host_that_is_not_there_is_no_refusal(hosts: Elsewhere) -> None:
    hosts.ports["gone.test", 80] = 1
    async with proxied(hosts) as (proxy, port):
        answer = await said(port, get("http://gone.test/"))
    assert answer.startswith(b"HTTP/1.1 502 gone.test:80 cannot be reached")
    assert proxy.refused == ()


async def test_host_has_to_agree_on_each_request(hosts: Elsewhere) -> None:
    async with proxied(hosts) as (proxy, port):
        answer = await said(
            port,
            get("http://a.test/1", last=False) + get("http://a.test/2", host="evil.test"),
        )
    assert answer.count(b"HTTP/1.1 200") == 1
    assert b"HTTP/1.1 403 its `Host` is `evil.test`" in answer
    assert [each.target for each in proxy.refused] == ["a.test:80"]


async def test_a_host_is_read_as_rules_read_it(hosts: Elsewhere) -> None:
    async with proxied(hosts) as (_, port):
        for url in ("http://A.TEST./", "HTTP://a.test:80/", "http://u:p@a.test/"):
            assert b" 200 OK" in await said(port, get(url, host="A.test"))
        for url in ("http://a.test@c.test/", "http://a.test\\@c.test/", "http://a.test%2ec/"):
            assert b" 200 OK" not in await said(port, get(url, host="a.test"))


@pytest.mark.parametrize(
    "sent",
    [
        b"GET / HTTP/1.1\r\nHost: a.test\r\n\r\n",
        b"GET https://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n",
        b"GET ftp://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n",
        b"GET http://a.test/ HTTP/1.1\r\n\r\n",
        b"GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\nHost: b.test\r\n\r\n",
        b"CONNECT a.test HTTP/1.1\r\nHost: a.test\r\n\r\n",
        b"CONNECT a.test:http HTTP/1.1\r\nHost: a.test\r\n\r\n",
        b"CONNECT a.test:99999 HTTP/1.1\r\nHost: a.test\r\n\r\n",
        b"POST http://a.test/ HTTP/1.1\r\nHost: a.test\r\n"
        b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\nX: " + b"x" * 100_000 + b"\r\n\r\n",
        b"\x04\x01\x00\x50\x00\x00\x00\x01\x00a.test\x00",
        b"\x16\x03\x01\x00\x05hello" + b"\0" * 200,
        b"\0" * 1_000,
        b"garbage\n" * 10_000,
    ],
)
async def test_what_is_no_request_to_a_proxy_reaches_nothing(hosts: Elsewhere, sent: bytes) -> None:
    async with proxied(hosts) as (_, port):
        answer = await said(port, sent)
        assert answer[:10] in (b"", b"HTTP/1.1 4")
        assert not hosts.asked
        assert b" 200 OK" in await said(port, get("http://a.test/"))


async def test_headers_of_one_hop_are_not_passed_on(hosts: Elsewhere) -> None:
    async def showing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.0 200 OK\r\nKeep-Alive: 5\r\n\r\n" + head)

    await hosts.serve("show.test", 80, showing)
    more = (
        "Connection: X-Mine",
        "X-Mine: 1",
        "X-Other: 2",
        "Proxy-Authorization: Basic x",
        "Upgrade: h2c",
    )
    async with proxied(hosts) as (_, port):
        answer = (await said(port, get("http://show.test/", *more))).lower()
    assert b"x-other: 2" in answer
    for dropped in (b"x-mine", b"proxy-", b"upgrade", b"keep-alive"):
        assert dropped not in answer


async def test_bodies_pass_in_both_directions(hosts: Elsewhere) -> None:
    body = b"x" * 300_000
    head = b"POST http://a.test/ HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n"
    async with proxied(hosts) as (_, port):
        answer = await said(port, head + b"Content-Length: 300000\r\n\r\n" + body)
    assert answer.endswith(b" " + body)


async def test_a_server_that_stops_early_is_seen_to_have_stopped(hosts: Elsewhere) -> None:
    async def stopping(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")

    await hosts.serve("stops.test", 80, stopping)
    await hosts.serve("silent.test", 80, silent)
    async with proxied(hosts) as (_, port):
        assert (await said(port, get("http://stops.test/"))).endswith(b"\r\n\r\nhalf")
        answer = await said(port, get("http://silent.test/"))
    assert answer.startswith(b"HTTP/1.1 502 ")


# ---------------------------------------------------------------------- tunnels


def connecting(host: str, port: int) -> bytes:
    return f"CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode()


async def tls_through(port: int, opening: bytes, name: str | None, trusted: Path) -> bytes:
    """Open a tunnel, speak TLS to a name in it, and return what a request is answered."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(opening)
        if opening[:1] == b"\x05":
            assert await reader.readexactly(2) == b"\x05\x00"
            if (await reader.readexactly(10))[1] != 0:
                return b"refused"
        else:
            if b" 200 " not in await reader.readuntil(b"\r\n\r\n"):
                return b"refused"
        context = ssl.create_default_context(cafile=str(trusted))
        context.check_hostname = name is not None
        async with asyncio.timeout(10):
            await writer.start_tls(context, server_hostname=name)
            writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            return await reader.readuntil(b"GET / ")
    finally:
        writer.close()


def socks(host: str, port: int, *, command: int = 1) -> bytes:
    name = host.encode()
    return (
        b"\x05\x02\x00\x02" + bytes((5, command, 0, 3, len(name))) + name + struct.pack(">H", port)
    )


ODD_NAMES = ("evil.test@a.test", "a.test/.evil.test", "a.test?.evil.test", "a.test#evil.test")


@pytest.fixture
async def trusted(hosts: Elsewhere, tmp_path: Path) -> Path:
    trusted, context = certificate_of("a.test", "other.test", folder=tmp_path)
    await hosts.serve("a.test", 443, answering, tls=context)
    await hosts.serve("127.9.9.9", 443, answering, tls=context)
    return trusted


@pytest.mark.parametrize("opening", [connecting, socks])
async def test_tls_passes_to_the_server_that_was_judged(
    hosts: Elsewhere, trusted: Path, opening: object
) -> None:
    assert callable(opening)
    async with proxied(hosts) as (proxy, port):
        assert b" 200 OK" in await tls_through(port, opening("a.test", 443), "a.test", trusted)
        with pytest.raises(ssl.SSLError, match="UNRECOGNIZED_NAME"):
            await tls_through(port, opening("a.test", 443), "other.test", trusted)
        with pytest.raises(ssl.SSLError, match="UNRECOGNIZED_NAME"):
            await tls_through(port, opening("a.test", 443), None, trusted)
        assert await tls_through(port, opening("c.test", 443), "a.test", trusted) == b"refused"
    assert [each.why for each in proxy.refused] == [
        "the TLS client means `other.test`",
        "the TLS client does not say which server it means (no SNI)",
        "no rule allows this",
    ]


class AskingAgain:
    """A host whose server asks each client for a second hello, and the names that it was asked."""

    def __init__(self, folder: Path) -> None:
        self.named: list[str | None] = []
        self.trusted, self.context = certificate_of("a.test", "b.test", folder=folder)
        self.context.set_ecdh_curve("secp384r1")  # no client offers a key for it at first
        self.context.sni_callback = lambda tls, name, context: self.named.append(name)

    def hellos(self) -> tuple[bytes, bytes]:
        """Return the two hellos of a client."""
        context = ssl.create_default_context(cafile=str(self.trusted))
        to_client, to_server = ssl.MemoryBIO(), ssl.MemoryBIO()
        client = context.wrap_bio(to_client, to_server, server_hostname="a.test")
        arriving, answer = ssl.MemoryBIO(), ssl.MemoryBIO()
        server = self.context.wrap_bio(arriving, answer, server_side=True)
        with pytest.raises(ssl.SSLWantReadError):
            client.do_handshake()
        first = to_server.read()
        arriving.write(first)
        with pytest.raises(ssl.SSLWantReadError):
            server.do_handshake()
        to_client.write(answer.read())
        with pytest.raises(ssl.SSLWantReadError):
            client.do_handshake()
        self.named.clear()
        return first, to_server.read()


async def test_a_second_hello_is_passed_on(hosts: Elsewhere, tmp_path: Path) -> None:
    asking = AskingAgain(tmp_path)
    await hosts.serve("a.test", 443, answering, tls=asking.context)
    async with proxied(hosts) as (_, port):
        found = await tls_through(port, connecting("a.test", 443), "a.test", asking.trusted)
    assert b" 200 OK" in found
    assert asking.named == ["a.test", "a.test"]


@pytest.mark.parametrize("at_once", [True, False])
async def test_a_second_hello_names_the_same_server(
    hosts: Elsewhere, tmp_path: Path, at_once: bool
) -> None:
    asking = AskingAgain(tmp_path)
    first, second = asking.hellos()
    second = second.replace(b"a.test", b"b.test")
    await hosts.serve("a.test", 443, answering, tls=asking.context)
    async with proxied(hosts) as (proxy, port):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(connecting("a.test", 443))
        await reader.readuntil(b"\r\n\r\n")
        writer.write(first + second if at_once else first)
        if not at_once:
            await reader.readexactly(20)
            writer.write(second)
        async with asyncio.timeout(10):
            assert (await reader.read()).endswith(b"\x02\x70")
        writer.close()
    assert asking.named == ["a.test"]
    assert [each.why for each in proxy.refused] == ["the TLS client means `b.test`"]


async def test_a_hello_that_may_hide_another_one_is_refused(
    hosts: Elsewhere, trusted: Path
) -> None:
    async with proxied(hosts) as (proxy, port):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(connecting("a.test", 443))
        await reader.readuntil(b"\r\n\r\n")
        writer.write(with_extension(hello("a.test"), 0xFE0D, b"\0" * 9))
        async with asyncio.timeout(10):
            assert (await reader.read()).endswith(b"\x02\x70")
        writer.close()
    assert "Encrypted Client Hello" in proxy.refused[0].why


async def test_an_address_has_no_server_name(hosts: Elsewhere, trusted: Path) -> None:
    tunnel = connecting("127.9.9.9", 443)
    async with proxied(hosts) as (_, port):
        assert b" 200 OK" in await tls_through(port, tunnel, None, trusted)
        with pytest.raises(ssl.SSLError, match="UNRECOGNIZED_NAME"):
            await tls_through(port, tunnel, "a.test", trusted)


async def test_a_server_name_is_a_name_of_a_host_and_nothing_more(
    hosts: Elsewhere, trusted: Path
) -> None:
    names = (*ODD_NAMES, "u:p@a.test", "a.test:443", "a%2etest", "[a.test]", "a.test\\.evil.test")
    async with proxied(hosts) as (proxy, port):
        for name in names:
            with pytest.raises((ssl.SSLError, ConnectionError)):
                await tls_through(port, connecting("a.test", 443), name, trusted)
    assert [each.why for each in proxy.refused] == [
        f"the TLS client means `{each}`" for each in names
    ]


async def test_what_is_no_host_is_not_connected_to(hosts: Elsewhere) -> None:
    async with proxied(hosts) as (_, port):
        for name in ODD_NAMES:
            ask = f"GET / HTTP/1.1\r\nHost: {name}\r\nConnection: close\r\n\r\n".encode()
            assert b" 200 " not in await said(port, connecting(name, 80) + ask)
            assert (await said(port, socks(name, 80)))[:4] == b"\x05\x00\x05\x02"
            assert not hosts.asked
            assert b" 403 its `Host` is " in await said(port, get("http://a.test/", host=name))


async def test_plain_requests_in_a_tunnel_are_for_its_host_only(hosts: Elsewhere) -> None:
    ask = b"GET /x HTTP/1.1\r\nHost: %b\r\n\r\n"
    async with proxied(hosts) as (proxy, port):
        answer = await said(port, connecting("a.test", 80) + ask % b"a.test" + ask % b"evil.test")
        assert answer.count(b"GET /x HTTP/1.1 ") == 1
        assert b"HTTP/1.1 403 its `Host` is `evil.test`" in answer
        # It is judged again, as plain HTTP, where the port does not say so.
        ask = ask.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
        answer = await said(port, connecting("b.test", 8080) + ask % b"b.test:8080")
        assert b"GET /x" in answer
    assert [(each.scheme, each.text) for each in hosts.asked[1:]] == [
        ("https", "b.test:8080"),
        ("http", "b.test:8080"),
    ]
    assert len(proxy.refused) == 1


@pytest.mark.parametrize(
    "relayed",
    [
        connecting("evil.test", 443),
        b"GET http://evil.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n",
        b"\x05\x01\x00",
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"\x00\x00\x00\x08\x04\xd2\x16\x2f",
    ],
)
async def test_no_relay_and_no_other_protocol_is_reached_through_a_tunnel(
    hosts: Elsewhere, relayed: bytes
) -> None:
    reached = []

    async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        reached.append(await reader.read())

    await hosts.serve("relay.test", 3128, relay)
    async with proxied(hosts) as (_, port):
        await said(port, connecting("relay.test", 3128) + relayed)
    assert b"".join(reached) == b""


async def test_a_client_that_says_nothing_in_a_tunnel_is_left(hosts: Elsewhere) -> None:
    async with proxied(hosts, ProxyBounds(opening=0.1)) as (proxy, port):
        await said(port, connecting("a.test", 80))
    assert proxy.refused[0].why == "only TLS and HTTP may pass, and the client sends neither"


async def test_socks_knows_names_and_addresses_and_only_connects(hosts: Elsewhere) -> None:
    hosts.ports["127.0.0.5", 80] = hosts.ports["::5", 80] = hosts.ports["a.test", 80]
    ask = b"GET /x HTTP/1.1\r\nConnection: close\r\nHost: %b\r\n\r\n"
    v4 = b"\x05\x01\x00\x05\x01\x00\x01\x7f\x00\x00\x05\x00\x50"
    v6 = b"\x05\x01\x00\x05\x01\x00\x04" + b"\0" * 15 + b"\x05\x00\x50"
    async with proxied(hosts) as (_, port):
        assert b"GET /x" in await said(port, socks("a.test", 80) + ask % b"a.test")
        assert b"GET /x" in await said(port, v4 + ask % b"127.0.0.5")
        assert b"GET /x" in await said(port, v6 + ask % b"[::5]")
        assert (await said(port, socks("c.test", 80)))[:4] == b"\x05\x00\x05\x02"
        assert (await said(port, socks("a.test", 80, command=2)))[:4] == b"\x05\x00\x05\x07"
        assert (await said(port, socks("a.test", 80, command=3)))[:4] == b"\x05\x00\x05\x07"
        assert (await said(port, b"\x05\x01\x02")) == b"\x05\xff"
        assert (await said(port, socks("a.test\0", 80)))[:4] == b"\x05\x00\x05\x02"
        assert (await said(port, b"\x05\x01\x00\x05\x01\x00\x07"))[:4] == b"\x05\x00\x05\x08"
        hosts.ports["gone.test", 80] = 1
        assert (await said(port, socks("gone.test", 80)))[:4] == b"\x05\x00\x05\x04"


# ---------------------------------------------------------------------- bounds


async def test_a_client_that_never_ends_its_request_is_left(hosts: Elsewhere) -> None:
    async with proxied(hosts, ProxyBounds(opening=0.03)) as (_, port):
        assert await said(port, b"") == b""
        assert await said(port, b"GET http://a.test/ HTTP/1.1\r\n") == b""
        assert await said(port, b"\x05\x01") == b""


async def test_connections_beyond_the_limit_wait(hosts: Elsewhere) -> None:
    async with proxied(hosts, ProxyBounds(connections=3, opening=0.25)) as (_, port):
        # Many of them say nothing at all.
        silent = [await asyncio.open_connection("127.0.0.1", port) for _ in range(9)]
        answer = await said(port, get("http://a.test/"))
        assert b" 200 OK" in answer
        for _, writer in silent:
            writer.close()


async def test_a_connection_on_which_nothing_passes_is_closed(
    hosts: Elsewhere, trusted: Path
) -> None:
    async with proxied(hosts, ProxyBounds(idle=0.2)) as (_, port):
        with pytest.raises((EOFError, OSError)):
            await tls_idle(port, trusted)


async def tls_idle(port: int, trusted: Path) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(connecting("a.test", 443))
        await reader.readuntil(b"\r\n\r\n")
        context = ssl.create_default_context(cafile=str(trusted))
        await writer.start_tls(context, server_hostname="a.test")
        async with asyncio.timeout(10):
            await reader.readexactly(1)
    finally:
        writer.close()


async def test_what_passes_is_limited_in_total(hosts: Elsewhere) -> None:
    async with proxied(hosts, ProxyBounds(transfer=1_000)) as (_, port):
        assert b" 200 OK" in await said(port, get("http://a.test/"))
        head = b"POST http://a.test/ HTTP/1.1\r\nHost: a.test\r\nContent-Length: 5000\r\n\r\n"
        assert await said(port, head + b"x" * 5_000) == b""


async def test_hosts_are_asked_for_a_limited_number_of_times(hosts: Elsewhere) -> None:
    async with proxied(hosts, ProxyBounds(hosts=2)) as (proxy, port):
        answers = [await said(port, get("http://a.test/")) for _ in range(3)]
    assert [b" 200 OK" in each for each in answers] == [True, True, False]
    assert len(hosts.asked) == 2
    assert proxy.refused[0].why == "the program has made too many connections"


async def test_the_proxy_ends_with_the_block(hosts: Elsewhere) -> None:
    async with proxied(hosts) as (_, port):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET http://a.test/ HTTP/1.1\r\n")
        await writer.drain()
    with pytest.raises((OSError, EOFError)):
        await reader.readexactly(1)
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection("127.0.0.1", port)
    writer.close()

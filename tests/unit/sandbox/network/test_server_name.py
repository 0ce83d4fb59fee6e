"""The server that a TLS client names, read from what real clients send."""

from __future__ import annotations

import ssl

import pytest

from policy.sandbox.network.server_name import ClientHello, NotTls, client_hello


def hello(name: str | None) -> bytes:
    """Return the first message of a TLS client."""
    context = ssl.create_default_context()
    context.check_hostname = False
    outgoing = ssl.MemoryBIO()
    client = context.wrap_bio(ssl.MemoryBIO(), outgoing, server_hostname=name)
    with pytest.raises(ssl.SSLWantReadError):
        client.do_handshake()
    return outgoing.read()


def in_records(message: bytes, size: int) -> bytes:
    """Return a message in records of a size."""
    body = message[5:]
    pieces = [body[at : at + size] for at in range(0, len(body), size)]
    return b"".join(b"\x16\x03\x01" + len(each).to_bytes(2, "big") + each for each in pieces)


def server_name(sent: bytes) -> str | None:
    found = client_hello(sent)
    if found is None:
        raise NotTls
    assert found.size == len(sent)
    return found.name


def is_whole(sent: bytes) -> bool:
    return client_hello(sent) is not None


def as_openssl_reads(sent: bytes) -> list[str | None]:
    """Return the name that a server by OpenSSL finds, in a list; nothing if it finds no TLS."""
    found: list[str | None] = []
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)

    def seen(tls: object, name: str | None, context: object) -> int:
        found.append(name)
        return ssl.ALERT_DESCRIPTION_UNRECOGNIZED_NAME

    context.sni_callback = seen
    incoming = ssl.MemoryBIO()
    incoming.write(sent)
    with pytest.raises(ssl.SSLError):
        context.wrap_bio(incoming, ssl.MemoryBIO(), server_side=True).do_handshake()
    return found


@pytest.mark.parametrize("name", ["a.test", "A.Test", "xn--bcher-kva.example", None])
def test_the_name_is_read(name: str | None) -> None:
    assert server_name(hello(name)) == name


@pytest.mark.parametrize("size", [7, 100])
def test_a_message_may_come_in_pieces(size: int) -> None:
    sent = in_records(hello("a.test"), size)
    assert not any(is_whole(sent[:end]) for end in range(0, len(sent), 31))
    assert is_whole(sent)
    assert server_name(sent) == "a.test"


@pytest.mark.parametrize(
    "sent",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        b"\x16\x03\x01\x00\x00",
        b"\x16\x02\x01\x00\x05\x01\x00\x00\x01\x00",
        b"\x16\x03\x01\x00\x05\x02\x00\x00\x01\x00",
        b"\x16\x03\x01\x00\x05\x01\x00\x00\x01\x00",
        b"\x16\x03\x01\xff\xff" + b"\x01" * 70_000,
        hello("a.test").replace(b"a.test", b"a.t\xc3\xbc"),
        # Another hello in the same record.
        in_records(hello("a.test") + hello("b.test")[5:], 10_000),
        hello("a.test").replace(b"\x00\x00\x06a.test", b"\x01\x00\x06a.test"),
        # Two names, of which the second one could be the one that counts.
        hello("aaa.b.test").replace(b"\x00\x0aaaa.b.test", b"\x00\x03aaa\x00\x00\x04test"),
    ],
)
def test_what_is_no_tls_names_nothing(sent: bytes) -> None:
    with pytest.raises(NotTls):
        server_name(sent)


def test_no_name_is_found_that_a_server_would_not_find() -> None:
    message = hello("a.test")
    for place in range(5, len(message), 3):
        for bit in (1, 64):
            changed = bytearray(message)
            changed[place] ^= bit
            sent = bytes(changed)
            try:
                name = server_name(sent)
            except NotTls:
                continue
            # What OpenSSL does not read at all harms nobody.
            assert as_openssl_reads(sent) in ([], [name])


def test_what_comes_before_and_after_a_second_hello_is_known() -> None:
    early = b"\x14\x03\x03\x00\x01\x01" + b"\x17\x03\x03\x00\x02ab"
    message = hello("a.test")
    found = client_hello(early + message + early, second=True)
    assert found == ClientHello(size=len(early + message), name="a.test")
    assert client_hello(message + early) == ClientHello(size=len(message), name="a.test")
    with pytest.raises(NotTls):
        client_hello(early + message)


def with_extension(message: bytes, kind: int, data: bytes) -> bytes:
    """Return a hello with one more extension."""
    added = kind.to_bytes(2, "big") + len(data).to_bytes(2, "big") + data
    session = 5 + 4 + 34
    ciphers = session + 1 + message[session]
    place = ciphers + 2 + int.from_bytes(message[ciphers : ciphers + 2], "big") + 2
    changed = bytearray(message + added)
    for at, size in ((3, 2), (6, 3), (place, 2)):
        number = int.from_bytes(changed[at : at + size], "big") + len(added)
        changed[at : at + size] = number.to_bytes(size, "big")
    return bytes(changed)


def test_a_hello_that_may_hide_another_one_is_told() -> None:
    message = hello("a.test")
    assert client_hello(with_extension(message, 0xFE0D, b"\0" * 9)) == ClientHello(
        size=len(message) + 13, name="a.test", is_outer=True
    )
    other = client_hello(with_extension(message, 0x1234, b""))
    assert other is not None
    assert not other.is_outer

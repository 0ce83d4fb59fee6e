"""Hosts by kind of spelling, and sets of hosts."""

from __future__ import annotations

import pytest

from policy.values import (
    NETWORK_WORDS,
    Endpoint,
    HostPattern,
    Unreadable,
    host_in,
    read_endpoint,
    read_host_pattern,
)


def endpoint(text: str) -> Endpoint:
    read = read_endpoint(text)
    assert isinstance(read, Endpoint), read
    return read


def patterns(*texts: str) -> tuple[HostPattern, ...]:
    read = [read_host_pattern(text) for text in texts]
    assert all(isinstance(each, HostPattern) for each in read), read
    return tuple(each for each in read if isinstance(each, HostPattern))


def judged(text: str, *items: str) -> bool | None:
    return host_in(endpoint(text), patterns(*items), (), None)


@pytest.mark.parametrize(
    ("text", "host", "port", "path"),
    [
        ("https://api.example", "api.example", 443, "/"),
        ("HTTP://API.Example.:8080/a", "api.example", 8080, "/a"),
        ("api.example", "api.example", 443, "/"),
        ("api.example:80/a?b#c", "api.example", 80, "/a"),
        ("localhost:3000", "localhost", 3000, "/"),
        ("https://user:pw@api.example/", "api.example", 443, "/"),
        ("https://bücher.example/ü", "xn--bcher-kva.example", 443, "/%C3%BC"),
        ("wss://api.example/%7Ea/../b", "api.example", 443, "/b"),
        ("https://api.example/a%2Fb", "api.example", 443, None),
        ("https://api.example/a/..;/b", "api.example", 443, None),
        ("https://api.example//a", "api.example", 443, "//a"),
        ("postgres://u:p@db.example/x", "db.example", 5432, "/x"),
        ("http://127.1/", "127.0.0.1", 80, "/"),
        ("http://0x7f.0.0.1", "127.0.0.1", 80, "/"),
        ("http://2852039166", "169.254.169.254", 80, "/"),
        ("http://[::FFFF:7f00:1]:81/", "127.0.0.1", 81, "/"),
        ("http://[0:0::1]", "::1", 80, "/"),
    ],
)
def test_an_endpoint_is_settled(text: str, host: str, port: int, path: str | None) -> None:
    read = endpoint(text)
    assert (read.host, read.port, read.path) == (host, port, path)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " https://a.example",
        "https://a.example ",
        "https://a.exa\nmple",
        "https://a.example\\@b.example",
        "https:///a.example",
        "https:a.example",
        "//a.example/",
        "https://a@b@c.example",
        "https://a.example#@b.example/",
        "https://a.example?@b.example",
        "user@a.example",
        "https://%61.example",
        "https://a.example:0",
        "https://a.example:99999",
        "https://a.example:8 0",
        "https://a.example:٣",
        "https://a..example",
        "https://-a.example",
        "https://a.ex*mple",
        "https://xn--a.example",
        "https://a\u200b.example",
        "https://faß.example",  # one reader keeps the ß, another makes it ss
        "http://0177.0.0.1",
        "http://1.2.3.4.5",
        "http://256.1.1.1",
        "http://[fe80::1%25eth0]",
        "http://[::1",
        "http://::1/",
        "file:///etc/passwd",
        "FILE:/etc/passwd",
        "unix:/var/run/x.sock",
        "view-source:https://a.example/",
        "javascript:alert(1)",
        "data:text/html,x",
        "mailto:a@b.example",
        "\ud800",
    ],
)
def test_what_readers_take_differently_is_unreadable(text: str) -> None:
    assert isinstance(read_endpoint(text), Unreadable)


@pytest.mark.parametrize(
    ("text", "item", "answer"),
    [
        ("https://corp.example", "corp.example", True),
        ("https://CORP.example.", "Corp.Example", True),
        ("https://a.corp.example", "corp.example", False),
        ("https://a.b.corp.example", "*.corp.example", True),
        ("https://corp.example", "*.corp.example", False),
        ("https://evilcorp.example", "*.corp.example", False),
        ("https://anything.example", "*", True),
        ("http://10.1.2.3", "*", True),
        ("http://corp.example", "https://corp.example", False),
        ("https://corp.example:8443", "https://corp.example:443", False),
        ("https://corp.example", "https://corp.example:443", True),
        ("http://10.1.2.3", "10.0.0.0/8", True),
        ("http://11.1.2.3", "10.0.0.0/8", False),
        ("http://10.1.2.3", "10.1.2.3", True),
        ("http://[fd00::1]", "fd00::/8", True),
        ("http://10.1.2.3", "corp.example", False),
        ("corp.example/v1/public/x", "corp.example/v1/public/**", True),
        ("corp.example/v1/public", "corp.example/v1/public/**", True),
        ("corp.example/v1/public/../admin", "corp.example/v1/public/**", False),
        ("corp.example/v1/public/%2e%2e/admin", "corp.example/v1/public/**", None),
        ("other.example/v1/public/%2e%2e/admin", "corp.example/v1/public/**", False),
        ("corp.example/v1/%70ublic/x", "corp.example/v1/public/**", True),
        # Some servers take several slashes for one, some cut what follows a semicolon.
        ("corp.example//v1/public/x", "corp.example/v1/public/**", None),
        ("corp.example/v1;x/public/a", "corp.example/v1/public/**", None),
        ("corp.example/v1/public/a;b//c", "corp.example/v1/public/**", True),
        ("corp.example/other//x", "corp.example/v1/public/**", False),
        ("corp.example/v1//../v1/public/x", "corp.example/v1/public/**", None),
        ("corp.example/v1/;/../public/x", "corp.example/v1/public/**", None),
        ("corp.example/v1/public/%c0%ae%c0%ae/x", "corp.example/v1/public/**", None),
        ("http://10.1.2.3:8443/a", "https://10.0.0.0/8:8443", False),
        ("https://10.1.2.3:8443/a", "https://10.0.0.0/8:8443", True),
        ("https://10.1.2.3/v1/x", "10.0.0.0/8/v1/**", True),
        ("https://10.1.2.3/v2/x", "10.0.0.0/8/v1/**", False),
        ("https://[fd00::1]:444/", "[fd00::]/8:444", True),
        ("https://[fd00::1]:444/", "[fd00::/8]:444", True),
        ("http://[::1]:80/", "[::1]:80", True),
        ("http://[::1]:81/", "[::1]:80", False),
        ("http://[::1:80]/", "[::1]:80", False),
        ("https://10.1.2.3/", "::ffff:10.0.0.0/104", True),
        ("https://11.1.2.3/", "[::ffff:10.0.0.0/104]", False),
        ("https://10.1.2.3/", "::/0", True),
        ("corp.example/v1/a-b", "corp.example/v1/a*", True),
    ],
)
def test_an_endpoint_is_in_a_pattern(text: str, item: str, answer: bool | None) -> None:
    assert judged(text, item) is answer


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("http://192.168.0.1", "private"),
        ("http://[fd12::1]", "private"),
        ("http://127.0.0.2", "loopback"),
        ("http://localhost", "loopback"),
        ("http://a.localhost:8000", "loopback"),
        ("http://[::1]", "loopback"),
        ("http://169.254.1.1", "link_local"),
        ("http://169.254.169.254", "metadata"),
        ("http://[fd00:ec2::254]", "metadata"),
        ("http://metadata.google.internal", "metadata"),
        ("http://100.100.100.200", "metadata"),
        ("http://0.0.0.0", "unspecified"),
        ("http://[::]", "unspecified"),
        ("http://100.64.0.1", "shared"),
        ("http://239.1.1.1", "multicast"),
        ("http://240.0.0.1", "reserved"),
    ],
)
def test_a_word_holds_its_addresses(text: str, word: str) -> None:
    assert judged(text, word) is True


@pytest.mark.parametrize("word", sorted(NETWORK_WORDS))
def test_a_public_address_is_in_no_word(word: str) -> None:
    assert judged("http://93.184.216.34", word) is False
    assert judged("http://169.253.1.1", word) is False
    assert judged("https://public.example", word) is False


@pytest.mark.parametrize(
    "text",
    [
        "http://[2002:7f00:1::]",  # 6to4
        "http://[64:ff9b::7f00:1]",  # NAT64
        "http://[64:ff9b:1::127.0.0.1]",  # NAT64 behind a prefix of one's own
        "http://[64:ff9b:1:7f00:0:100::]",
        "http://[::7f00:1]",  # compatible
        "http://[::ffff:0:127.0.0.1]",  # translated
        "http://[2001:0:5db8:d822::80ff:fffe]",  # Teredo
        "http://[2001:db8::5efe:127.0.0.1]",  # ISATAP
        "http://[2001:db8::200:5efe:7f00:1]",
    ],
)
def test_an_address_that_carries_another_is_undecidable(text: str) -> None:
    assert judged(text, "loopback") is None
    assert judged(text, "10.0.0.0/8") is False


def test_resolved_names_are_held_against_networks() -> None:
    answers = {
        "in.example": ("10.0.0.1", "10.0.0.2"),
        "out.example": ("93.184.216.34",),
        "both.example": ("10.0.0.1", "93.184.216.34"),
        "none.example": (),
        "odd.example": ("not an address",),
    }
    inside = patterns("10.0.0.0/8")

    def ask(name: str) -> bool | None:
        return host_in(endpoint(name), inside, (), answers.get)

    assert ask("in.example") is True
    assert ask("out.example") is False
    for name in ("both.example", "none.example", "odd.example", "unknown.example"):
        assert ask(name) is None
    # Names are compared with names whatever they resolve to.
    assert host_in(endpoint("unknown.example"), patterns("unknown.example"), (), answers.get)


def test_excluded_hosts_are_out() -> None:
    corp, secret = patterns("*.corp.example"), patterns("vault.corp.example")
    assert host_in(endpoint("a.corp.example"), corp, secret, None) is True
    assert host_in(endpoint("vault.corp.example"), corp, secret, None) is False


@pytest.mark.parametrize(
    "text",
    ["", "*x.example", "a.*.example", "10.0.0.1/8", "corp.example:0", "gopher://a", "a b", "a/../b",
     "corp.example/a?b", "a..b", "http://", "http://metadata", "Private", "private:80",
     "*.private", "loopback/x", "https://10.0.0.1/8", "10.0.0.0/33", "10.0.0.0:80/8"],
)  # fmt: skip
def test_an_unclear_host_pattern_is_refused(text: str) -> None:
    assert isinstance(read_host_pattern(text), Unreadable)

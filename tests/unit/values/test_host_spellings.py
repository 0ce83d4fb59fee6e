"""Spellings of hosts: which are equal, and which parsers interpret differently."""

from __future__ import annotations

import pytest

from policy.values import Endpoint, Unreadable, host_in, read_endpoint, read_host_pattern

# What is written for the host of `https://…/`, and the host that it is; None: readers disagree.
SPELLINGS: list[tuple[str, str | None]] = [
    # letter case, trailing dots, ports
    ("GOOD.Example", "good.example"),
    ("good.example.", "good.example"),
    ("good.example..", None),
    (".good.example", None),
    ("good.example:", "good.example"),
    ("good.example:443", "good.example"),
    ("good.example:0443", "good.example"),
    ("good.example.:443", "good.example"),
    ("good.example:+443", None),
    ("good.example:4 43", None),
    ("good.example:65536", None),
    ("good.example:-1", None),
    ("good.example:443:443", None),
    ("good.example:0x1bb", None),
    ("good.example:４４３", None),
    # user info
    ("good.example@evil.example", "evil.example"),
    ("user:good.example@evil.example", "evil.example"),
    ("good.example:443@evil.example", "evil.example"),
    ("@evil.example", "evil.example"),
    (":@evil.example", "evil.example"),
    ("good.example@evil.example@x.example", None),
    ("evil.example#@good.example", None),
    ("evil.example?@good.example", None),
    ("evil.example\\@good.example", None),
    ("evil.example\\.good.example", None),
    ("evil.example;@good.example", None),
    ("good.example&@evil.example", None),
    ("good.example%40evil.example", None),
    ("good.example%2F@evil.example", None),
    # blanks, line ends, controls and what is not seen
    ("good.exa\tmple", None),
    ("good.example\r\n", None),
    ("good.example\n.evil.example", None),
    (" good.example", None),
    ("good.example\x00.evil.example", None),
    ("good.example\u00a0", None),
    ("good\u00adexample", None),
    ("good.exam\u200dple", None),
    ("good.example\ufe0f", None),
    ("good.example\u202e", None),
    # encoded
    ("%67ood.example", None),
    ("good%2eexample", None),
    ("good.example%00", None),
    ("good.example%2eevil.example", None),
    # other characters for a dot, a letter or a slash
    ("good。example", "good.example"),
    ("good．example", "good.example"),
    ("good｡example", "good.example"),
    ("ｇｏｏｄ.example", "good.example"),
    ("good.example／evil.example", None),
    ("good.example＠evil.example", None),
    ("good.example：80", None),
    ("good.example＃.evil.example", None),
    ("good.example⁄x", "good.xn--examplex-k03d"),
    ("℀.example", None),
    ("\u212aey.example", None),  # the Kelvin sign, which composed Unicode does not hold
    ("ℯvil.example", "evil.example"),
    # international names
    ("bücher.example", "xn--bcher-kva.example"),
    ("BÜCHER.example", "xn--bcher-kva.example"),
    ("bu\u0308cher.example", None),  # not composed
    ("XN--BCHER-KVA.example", "xn--bcher-kva.example"),
    ("日本語.example", "xn--wgv71a119e.example"),
    ("faß.example", None),
    ("βόλος.example", None),
    ("xn--fa-hia.example", "xn--fa-hia.example"),
    ("xn--good-.example", None),
    ("xn--\u00fc.example", None),
    ("xn--55555577.example", None),
    ("xn--zzzzzzzzzzzz99999999.example", None),
    # names that hosts have, and some they have not
    ("_dmarc.good.example", "_dmarc.good.example"),
    ("r3---sn-x.example", "r3---sn-x.example"),
    ("good-.example", None),
    ("good!.example", None),
    ("{good,evil}.example", None),
    ("good.example,evil.example", None),
    ("*.example", None),
    ("a" * 64 + ".example", None),
    (".".join(["a" * 60] * 5), None),
    ("127.0.0.1.nip.example", "127.0.0.1.nip.example"),
    ("0x7f.0.0.1.example", "0x7f.0.0.1.example"),
    # IPv4
    ("127.0.0.1", "127.0.0.1"),
    ("127.0.0.1.", "127.0.0.1"),
    ("127.0.1", "127.0.0.1"),
    ("127.1", "127.0.0.1"),
    ("2130706433", "127.0.0.1"),
    ("0x7f000001", "127.0.0.1"),
    ("0X7F.0x0.0X0.0x1", "127.0.0.1"),
    ("0x7f.1", "127.0.0.1"),
    ("127.0x1", "127.0.0.1"),
    ("127.0.256", "127.0.1.0"),
    ("①②⑦.0.0.1", "127.0.0.1"),
    ("127。0。0。1", "127.0.0.1"),
    ("0", "0.0.0.0"),
    ("0x", "0.0.0.0"),
    ("0177.0.0.1", None),
    ("127.0.0.01", None),
    ("0127.0.0.1", None),
    ("017700000001", None),
    ("08.0.0.1", None),
    ("127.0.0.256", None),
    ("127.16777216", None),
    ("4294967296", None),
    ("0x100000000", None),
    ("127.0.0.0.1", None),
    ("127..1", None),
    ("good.1", None),
    ("good.0x1", None),
    ("1.2.3.4..", None),
    # IPv6
    ("[::1]", "::1"),
    ("[0:0:0:0:0:0:0:1]", "::1"),
    ("[0000::0001]", "::1"),
    ("[::0.0.0.1]", "::1"),
    ("[FD00:EC2::254]", "fd00:ec2::254"),
    ("[::ffff:127.0.0.1]", "127.0.0.1"),
    ("[::ffff:7f00:1]", "127.0.0.1"),
    ("[0:0:0:0:0:FFFF:7F00:0001]", "127.0.0.1"),
    ("[::1]:443", "::1"),
    ("[::1]:", "::1"),
    ("user@[::1]", "::1"),
    ("[::1].example", None),
    ("[::1]443", None),
    ("[::1", None),
    ("::1]", None),
    ("::1", None),
    ("[[::1]]", None),
    ("[127.0.0.1]", None),
    ("[good.example]", None),
    ("[1::2::3]", None),
    ("[:::1]", None),
    ("[::12345]", None),
    ("[::127.0.0.01]", None),
    ("[::ffff:0x7f.0.0.1]", None),
    ("[v1.good]", None),
    ("[fe80::1%eth0]", None),
    ("[fe80::1%25eth0]", None),
    ("[::1%25]", None),
    ("%5B::1%5D", None),
    ("[::1\uff3d", None),
]


@pytest.mark.parametrize(("spelled", "host"), SPELLINGS)
def test_a_host_is_what_every_reader_takes_it_for(spelled: str, host: str | None) -> None:
    read = read_endpoint(f"https://{spelled}/")
    if host is None:
        assert isinstance(read, Unreadable), read
    else:
        assert isinstance(read, Endpoint), read
        assert (read.host, read.port, read.path) == (host, 443, "/")


@pytest.mark.parametrize(
    "text",
    [
        "https:/good.example",
        "https:good.example",
        "https:////good.example/",
        "https:\\\\good.example",
        "https:/\\good.example",
        "https//good.example",
        "//good.example/",
        "///good.example",
        "/good.example",
        "\\\\good.example\\share",
        "http:80",
        "HTTP:443/good.example",
        "https:2130706433",
        "wss:443/x",
        "ftp:21/x",
        "file:80/etc/passwd",
        "http://",
        "http://:80",
        "http://@/",
        "https://good.example@",
        "://good.example",
        "1http://good.example",
        "ht tp://good.example",
        "ht\ttps://good.example",
        "\x01https://good.example",
        "url:https://good.example",
        "jar:https://good.example!/x",
        "blob:https://good.example/x",
        "feed:https://good.example",
        "gopher://good.example",
        "dict://good.example:11211/",
        "file://good.example/etc/passwd",
        "file:///etc/passwd",
        "data://good.example/",
        "javascript://good.example/%0aalert(1)",
        "about:blank",
        "good.example:",
        "good.example:x",
        "?good.example",
        "#good.example",
        "good.example?@evil.example",
    ],
)
def test_what_names_no_host_or_two_is_unreadable(text: str) -> None:
    assert isinstance(read_endpoint(text), Unreadable)


@pytest.mark.parametrize(
    ("text", "scheme", "port"),
    [
        ("WSS://good.example", "wss", 443),
        ("ws://good.example/chat", "ws", 80),
        ("FTP://good.example/x", "ftp", 21),
        ("ssh://git@good.example/x", "ssh", 22),
        ("postgresql://u:p@good.example/db", "postgresql", 5432),
        ("good.example:8443/x", "https", 8443),
        ("good.example?q=1", "https", 443),
        ("good.example/x?q=a@b#c", "https", 443),
        ("http://good.example:65535", "http", 65535),
    ],
)
def test_scheme_and_port_are_told(text: str, scheme: str, port: int) -> None:
    read = read_endpoint(text)
    assert isinstance(read, Endpoint), read
    assert (read.scheme, read.host, read.port) == (scheme, "good.example", port)


@pytest.mark.parametrize(
    ("path", "settled"),
    [
        ("", "/"),
        ("/a/./b/../c", "/a/c"),
        ("/a/..", "/"),
        ("/../../a", "/a"),
        ("/.well-known/x", "/.well-known/x"),
        ("/a%62c/%7E", "/abc/~"),
        ("/a%3fb%c3%a9", "/a%3Fb%C3%A9"),
        ("/é", "/%C3%A9"),
        ("/a;b=1/c", "/a;b=1/c"),
        ("/a//b", "/a//b"),
        ("/a'b|c", "/a'b|c"),
        ("/a/%2e%2e/b", None),
        ("/a/.%2E/b", None),
        ("/a%2fb", None),
        ("/a%5c..%5cb", None),
        ("/a/%252e%252e/b", None),
        ("/a/..;x/b", None),
        ("/a/.;/b", None),
        ("/a//../b", None),
        ("/a/;x/../b", None),
        ("/%c0%ae%c0%ae/b", None),
        ("/%e0%80%ae/b", None),
        ("/a%00b", None),
        ("/a%0ab", None),
        ("/a%zz", None),
        ("/a%", None),
    ],
)
def test_a_path_is_settled_or_unclear(path: str, settled: str | None) -> None:
    read = read_endpoint(f"https://good.example{path}")
    assert isinstance(read, Endpoint), read
    assert read.path == settled


@pytest.mark.parametrize("host", ["localhost", "LocalHost.", "app.localhost", "a.b.localhost:3000"])
def test_localhost_is_this_machine_whatever_a_resolver_says(host: str) -> None:
    read, word, first = (
        read_endpoint(f"http://{host}"),
        read_host_pattern("loopback"),
        read_host_pattern("127.0.0.0/8"),
    )
    assert isinstance(read, Endpoint) and not isinstance(word, Unreadable)
    assert not isinstance(first, Unreadable)
    assert host_in(read, (word,), (), lambda name: ("93.184.216.34",)) is True
    # By one of its two addresses it is not known which is meant.
    assert host_in(read, (first,), (), None) is None


@pytest.mark.parametrize(
    "host",
    [
        "169.254.169.254",
        "[::ffff:169.254.169.254]",
        "2852039166",
        "169.254.170.2",
        "100.100.100.200",
        "168.63.129.16",
        "192.0.0.192",
        "[fd00:ec2::254]",
        "[fd20:ce::254]",
        "[fd00:c1::a9fe:a9fe]",
        "metadata.google.internal",
        "METADATA.google.internal.",
        "metadata.goog",
        "instance-data.ec2.internal",
        "metadata.tencentyun.com",
    ],
)
def test_metadata_is_known_in_every_cloud_by_address_and_name(host: str) -> None:
    read, word = read_endpoint(f"http://{host}/latest"), read_host_pattern("metadata")
    assert isinstance(read, Endpoint) and not isinstance(word, Unreadable)
    assert host_in(read, (word,), (), None) is True

"""Equal hosts are judged alike in every spelling, and no URL parser finds another host."""

from __future__ import annotations

import re
from ipaddress import IPv4Address, IPv6Address
from urllib.parse import urlsplit

import ada_url
from hypothesis import given
from hypothesis import strategies as st

from policy.values import Endpoint, HostPattern, Unreadable, host_in, read_endpoint
from policy.values import read_host_pattern as read_item
from policy.values.hosts.endpoint import _read_endpoint, _read_ordinary
from policy.values.hosts.url_path import canonical_path, path_readings

ITEMS = ("private", "loopback", "metadata", "link_local", "10.0.0.0/8", "127.0.0.1", "0.0.0.0/1")
# What authorities are made of, and what makes readers disagree about them.
PIECES = st.sampled_from(
    ["good.example", "evil.example", "127.0.0.1", "0x7f", "1", "[::1]", "xn--", "bücher", "ß",
     "@", ":", "/", "//", "\\", "?", "#", ".", "..", "。", "%2e", "%40", ";", "&", ",", "\t", "\n",
     " ", "80", "443", ":80", "-", "--", "_", "user", "[", "]", "\u200b", "\u212a", "http:",
     "https://", "é", "／", "localhost"]
)  # fmt: skip
authorities = st.lists(PIECES, min_size=1, max_size=6).map("".join)
names = st.lists(
    st.from_regex(r"[a-z]([a-z0-9]{0,5}[a-z0-9])?", fullmatch=True), min_size=1, max_size=4
).map(".".join)
paths = st.lists(
    st.sampled_from(
        ["/", "a", "b", ".", "..", ";", "%61", "%2e", "%2f", "é", "//", "x=1", "*", "~"]
    ),
    max_size=8,
).map(lambda parts: "/" + "".join(parts))


def item(text: str) -> HostPattern:
    read = read_item(text)
    assert isinstance(read, HostPattern), read
    return read


def verdicts(endpoint: Endpoint) -> list[bool | None]:
    return [host_in(endpoint, (item(text),), (), None) for text in ITEMS]


@st.composite
def spelled_addresses(draw: st.DrawFn) -> tuple[str, str]:
    """Give an address in its plain spelling and in another that every reader takes for it."""
    address = draw(st.sampled_from(
        ["127.0.0.1", "10.1.2.3", "169.254.169.254", "192.168.0.1", "93.184.216.34", "0.0.0.0"]
    ) | st.ip_addresses(v=4).map(str))  # fmt: skip
    number = int(IPv4Address(address))
    kind = draw(st.sampled_from(["parts", "mapped"]))
    if kind == "mapped":
        mapped = IPv6Address(0xFFFF << 32 | number)
        spelling = draw(st.sampled_from(
            [f"::ffff:{address}", mapped.exploded, mapped.exploded.upper(), f"0::FFFF:{address}"]
        ))  # fmt: skip
        return address, f"[{spelling}]"
    count = draw(st.integers(1, 4))
    values = [number >> shift & 0xFF for shift in (24, 16, 8)][: count - 1]
    values.append(number & (1 << 8 * (5 - count)) - 1)
    shapes = [draw(st.sampled_from(["{}", "0x{:x}", "0X{:X}", "0x0{:x}"])) for _ in values]
    dot = draw(st.sampled_from([".", "。", "．"]))
    text = dot.join(shape.format(value) for shape, value in zip(shapes, values, strict=True))
    return address, text + draw(st.sampled_from(["", "."]))


@st.composite
def dressed(draw: st.DrawFn, host: str) -> str:
    """Give a URL of a host with what makes no difference to where it leads."""
    scheme = draw(st.sampled_from(["https", "HTTPS", "hTTps"]))
    user = draw(st.sampled_from(["", "user@", "user:pw@", "good.example@", ":@"]))
    port = draw(st.sampled_from(["", ":", ":443", ":0443"]))
    tail = draw(
        st.sampled_from(["", "/", "?q", "#f", "/?q=a@b", "/#@good.example", "/a/..", "/./"])
    )
    return f"{scheme}://{user}{host}{port}{tail}"


@given(spelled_addresses(), st.data())
def test_an_address_is_judged_alike_in_every_spelling(
    spelled: tuple[str, str], data: st.DataObject
) -> None:
    address, spelling = spelled
    plain, other = read_endpoint(f"https://{address}/"), read_endpoint(data.draw(dressed(spelling)))
    assert plain == other
    assert isinstance(other, Endpoint)
    assert other.host == address and other.address == IPv4Address(address)


@given(st.ip_addresses(v=6), st.data())
def test_an_ipv6_address_is_judged_alike_in_every_spelling(
    address: IPv6Address, data: st.DataObject
) -> None:
    spelling = data.draw(st.sampled_from([str(address), address.exploded, str(address).upper()]))
    plain = read_endpoint(f"https://[{address}]/")
    other = read_endpoint(data.draw(dressed(f"[{spelling}]")))
    assert isinstance(plain, Endpoint) and plain == other
    assert verdicts(plain) == verdicts(other)


@given(names, st.data())
def test_a_host_name_is_judged_alike_in_every_spelling(name: str, data: st.DataObject) -> None:
    dot = data.draw(st.sampled_from([".", "。", "．", "｡"]))
    cased = "".join(data.draw(st.sampled_from([c, c.upper()])) for c in name).replace(".", dot)
    ending = data.draw(st.sampled_from(["", "."]))
    plain = read_endpoint(f"https://{name}/")
    assert isinstance(plain, Endpoint) and plain.host == name
    assert read_endpoint(data.draw(dressed(cased + ending))) == plain


@given(st.sampled_from(["http://", "https://", "wss://", "ftp://", ""]), authorities)
def test_no_common_url_parser_finds_another_host(scheme: str, authority: str) -> None:
    text = scheme + authority
    read = read_endpoint(text)
    if isinstance(read, Unreadable):
        return
    whole = text if re.match("[a-z]+://", text, re.I) else f"https://{text}"
    browser = ada_url.URL(whole).hostname
    python = urlsplit(whole).hostname
    strict = re.fullmatch(r"[a-z]+://([^/?#]*).*", whole, re.I | re.S)
    assert python is not None and strict is not None
    rfc = re.sub(r":[0-9]*$", "", strict[1].rpartition("@")[2])
    for other in (browser, python if ":" not in python else f"[{python}]", rfc):
        again = read_endpoint(f"https://{other}/")
        assert isinstance(again, Endpoint)
        assert (again.host, again.address) == (read.host, read.address)


@given(
    st.sampled_from(["http://", "HTTPS://", "ws://", "redis://", "x://", ""]),
    names
    | st.sampled_from(
        [
            "a1.b2",
            "A.Example",
            "1.a",
            "a.1",
            "a.0x1",
            "a--b",
            "http",
            "a_b",
            "10.0.0.1",
            "1.2.3.04",
            "1.2.3.256",
        ]
    ),
    st.sampled_from(["", ":80", ":65535", ":65536", ":0", ":", ":080"]),
    paths | st.just(""),
    st.sampled_from(["", "?q", "#f", "?q=@x/..", "?\\", "? "]),
)
def test_ordinary_urls_are_read_as_the_strict_reading_reads_them(
    scheme: str, host: str, port: str, path: str, tail: str
) -> None:
    text = scheme + host + port + path + tail
    quick = _read_ordinary(text)
    assert quick is None or quick == _read_endpoint(text)


@given(paths)
def test_a_canonical_path_is_stable_and_has_no_dots(path: str) -> None:
    settled = canonical_path(path)
    if settled is None:
        return
    assert canonical_path(settled) == settled
    assert ada_url.URL("https://host" + settled).pathname == settled
    for reading in path_readings(settled):
        assert not {".", ".."} & set(reading.split("/"))


@given(st.lists(st.sampled_from([".", "..", "a", "", ".a", "a.", "...", "%61"]), max_size=8))
def test_dot_segments_are_resolved_as_in_browsers(segments: list[str]) -> None:
    path = "/" + "/".join(segments)
    settled = canonical_path(path)
    browser = ada_url.URL("https://host" + path).pathname.replace("%61", "a")
    # Behind an empty segment servers count differently.
    assert settled == browser or (settled is None and "//" in path and ".." in segments)

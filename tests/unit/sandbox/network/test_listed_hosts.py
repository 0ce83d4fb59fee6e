"""Hosts that are permitted by a list: by name, and by address where it is not of the internet."""

from __future__ import annotations

from unittest.mock import sentinel

import pytest

from policy.sandbox import (
    ListedHosts,
    NotPermitted,
    NotReached,
    Peer,
    Target,
    is_public,
    note_of_own_address,
)
from policy.sandbox.network.target import read_target

NAMES = {
    "a.test": ("93.184.216.34", "2606:2800:220:1::1"),
    "x.a.test": ("93.184.216.35",),
    "inside.test": ("10.1.2.3",),
    "both.test": ("10.1.2.3", "93.184.216.36"),
    "rebound.test": ("169.254.169.254", "127.0.0.1", "::1", "fd00::1", "::ffff:127.0.0.1"),
}


async def reached(*hosts: str, url: str) -> list[str]:
    """Return the addresses that are tried, or why there are none."""
    tried: list[str] = []
    looked_up: list[str] = []

    async def look_up(name: str) -> tuple[str, ...] | None:
        looked_up.append(name)
        return NAMES.get(name)

    async def dial(address: str, port: int) -> Peer:
        tried.append(address)
        raise ConnectionRefusedError(111, "Connection refused")

    target = read_target(url)
    assert isinstance(target, Target)
    with pytest.raises((NotPermitted, NotReached)) as caught:
        await ListedHosts(hosts, look_up, dial=dial)(target)
    assert len(looked_up) <= 1
    return tried if isinstance(caught.value, NotReached) else [str(caught.value)]


UNLISTED = ["`connects` does not name it"]
NOT_PUBLIC = ["its address is not of the internet, and `connects` names no such"]


@pytest.mark.parametrize(
    ("hosts", "url", "expected"),
    [
        (("a.test",), "https://a.test", list(NAMES["a.test"])),
        (("a.test",), "https://A.test.:444", list(NAMES["a.test"])),
        (("a.test",), "https://x.a.test", UNLISTED),
        (("*.a.test",), "https://x.a.test", list(NAMES["x.a.test"])),
        (("a.test:443",), "https://a.test", list(NAMES["a.test"])),
        (("a.test:443",), "https://a.test:444", UNLISTED),
        (("https://a.test",), "http://a.test", UNLISTED),
        ((), "https://a.test", UNLISTED),
        (("*",), "https://169.254.169.254", ["169.254.169.254"]),
        (("a.test",), "https://93.184.216.34", UNLISTED),
        # Whoever owns the name says where it leads.
        (("rebound.test",), "http://rebound.test", NOT_PUBLIC),
        (("*.test", "loopback"), "http://rebound.test", ["127.0.0.1", "::1", "::ffff:127.0.0.1"]),
        (("inside.test",), "http://inside.test", NOT_PUBLIC),
        (("inside.test", "10.1.0.0/16"), "http://inside.test", ["10.1.2.3"]),
        (("10.1.0.0/16",), "http://both.test", ["10.1.2.3"]),
        (("both.test",), "http://both.test", ["93.184.216.36"]),
        (("localhost",), "http://localhost", ["127.0.0.1", "::1"]),
        (("loopback",), "http://x.localhost", ["127.0.0.1", "::1"]),
        (("a.test",), "http://localhost", UNLISTED),
        (("gone.test",), "http://gone.test", []),
    ],
)
async def test_what_a_list_covers(hosts: tuple[str, ...], url: str, expected: list[str]) -> None:
    assert await reached(*hosts, url=url) == expected


async def test_a_connection_is_returned() -> None:
    async def look_up(name: str) -> tuple[str, ...]:
        return ("93.184.216.34",)

    async def dial(address: str, port: int) -> Peer:
        assert (address, port) == ("93.184.216.34", 443)
        peer: Peer = sentinel.peer
        return peer

    target = read_target("https://a.test")
    assert isinstance(target, Target)
    assert await ListedHosts(["a.test"], look_up, dial=dial)(target) is sentinel.peer


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "10.0.0.1", "169.254.169.254", "168.63.129.16", "100.64.0.1", "0.0.0.0"),
        *("::1", "::ffff:10.0.0.1", "fe80::1", "fd00::1", "64:ff9b::7f00:1", "2002:7f00:1::"),
        *("224.0.0.1", "255.255.255.255", "192.0.2.1", "fe80::1%eth0", "nonsense"),
    ],
)
def test_addresses_that_are_not_of_the_internet(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", ["93.184.216.34", "2606:2800:220:1::1", "8.8.8.8"])
def test_addresses_of_the_internet(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    ("host", "noted"),
    [
        ("127.0.0.1:18001", True),
        ("localhost", True),
        ("loopback", True),
        ("::1", True),
        ("10.0.0.0/8", False),
        ("a.test", False),
        ("*", False),
    ],
)
def test_a_permitted_address_of_this_machine_takes_a_client_that_names_the_proxy(
    host: str, noted: bool
) -> None:
    note = note_of_own_address(host)
    assert (
        note is not None and f"{host} is reached by programs that name the proxy" in note
    ) is noted

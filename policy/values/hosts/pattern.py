"""Patterns of hosts: parse a pattern, and test whether an endpoint is in a set of them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Network, ip_network

from policy.model import ResolveHost
from policy.values.globs import compile_path_glob
from policy.values.hosts.address import (
    METADATA_NAMES,
    NETWORK_WORDS,
    Address,
    Network,
    in_networks,
    read_address,
)
from policy.values.hosts.endpoint import DEFAULT_PORTS, Endpoint
from policy.values.hosts.host_name import canonical_name
from policy.values.hosts.url_path import canonical_path, path_readings
from policy.values.logic import both, negate
from policy.values.text import quote
from policy.values.unreadable import Unreadable

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_PORT = re.compile(r":([0-9]{1,5})$")
# `10.0.0.0/8` and `[fd00::]/8` before a port or path: the slash is part of the network.
_NETWORK = re.compile(r"\[?[0-9A-Fa-f:.]+\]?/[0-9]{1,3}(?=[:/]|$)", re.ASCII)
# The word for hosts that a program may be redirected to; it never matches a host that a call names.
REDIRECTED = "redirected"
_LOCALHOST = ("127.0.0.1", "::1")


@dataclass(frozen=True, slots=True, kw_only=True)
class HostPattern:
    """One item of a set of hosts: a name, the names below one, networks, or any host.

    At most one of `name` and `networks` is set; with neither it matches any host, or, with the word
    `redirected`, none that a call names. `below` means the subdomains of `name` and not the name
    itself. A scheme, port or path of None matches any.
    """

    name: str | None = None
    below: bool = False
    word: str | None = None
    networks: tuple[Network, ...] = ()
    scheme: str | None = None
    port: int | None = None
    path: str | None = None


def read_host_pattern(text: str) -> HostPattern | Unreadable:
    """Parse an item such as `*.corp.example`, `10.0.0.0/8`, `https://api.example/v1/**`."""
    if text == REDIRECTED:
        return HostPattern(word=text)
    if text in NETWORK_WORDS:
        return HostPattern(word=text, networks=NETWORK_WORDS[text])
    networks = _read_networks(text)
    if networks:
        return HostPattern(networks=networks)
    found = _SCHEME.match(text)
    scheme = found[1].lower() if found else None
    if scheme is not None and scheme not in DEFAULT_PORTS:
        return Unreadable(reason=f"not a scheme that names a host: {quote(scheme)}")
    place, tail = _split_place(text[found.end() :] if found else text)
    port = _PORT.search(place)
    number = int(port[1]) if port else None
    if number is not None and not 0 < number < 65_536:
        return Unreadable(reason=f"not a port: {quote(text)}")
    path = _canonical_glob(tail) if len(tail) > 1 else None
    if len(tail) > 1 and path is None:
        return Unreadable(reason=f"not a path pattern of a URL: {quote(text)}")
    base = _read_base(place[: port.start()] if port else place)
    if isinstance(base, Unreadable):
        return base
    name, below, networks = base
    if networks and tail[1:].isdigit():
        return Unreadable(reason=f"a network address with host bits set: {quote(text)}")
    return HostPattern(
        name=name, below=below, networks=networks, scheme=scheme, port=number, path=path
    )


def host_in(
    endpoint: Endpoint,
    patterns: tuple[HostPattern, ...],
    excluded: tuple[HostPattern, ...],
    resolve: ResolveHost | None,
) -> bool | None:
    """Return whether the endpoint is in `patterns` without `excluded`.

    Names are compared with names, and addresses, spelled or resolved, with networks. A name whose
    addresses are unknown, or only partly inside, is indeterminate against networks; without a
    resolver only names with a fixed meaning are compared with networks.
    """
    inside = _in_one(endpoint, patterns, resolve)
    if not excluded or inside is False:
        return inside
    return both(inside, negate(_in_one(endpoint, excluded, resolve)))


def _in_one(
    endpoint: Endpoint, patterns: tuple[HostPattern, ...], resolve: ResolveHost | None
) -> bool | None:
    unknown = False
    for pattern in patterns:
        answer = matches_endpoint(endpoint, pattern, resolve)
        if answer:
            return True
        unknown = unknown or answer is None
    return None if unknown else False


def matches_endpoint(
    endpoint: Endpoint, pattern: HostPattern, resolve: ResolveHost | None
) -> bool | None:
    """Return whether one pattern matches the endpoint."""
    name = pattern.name
    if pattern.word == REDIRECTED:
        return False
    if name is not None and (endpoint.address is not None or not _is_named(endpoint.host, pattern)):
        return False
    if pattern.scheme is not None and pattern.scheme != endpoint.scheme:
        return False
    if pattern.port is not None and pattern.port != endpoint.port:
        return False
    inside = _in_networks(endpoint, pattern, resolve) if pattern.networks else True
    if inside is False or pattern.path is None:
        return inside
    return both(inside, _matches_path(endpoint.path, pattern.path))


def _is_named(host: str, pattern: HostPattern) -> bool:
    if not pattern.below:
        return host == pattern.name
    return host.endswith(f".{pattern.name}")


def _matches_path(path: str | None, pattern: str) -> bool | None:
    """Return whether the path matches for every server; None where that depends on the server."""
    if path is None:
        return None
    matches = compile_path_glob(pattern)
    answers = {matches(reading) for reading in path_readings(path)}
    return answers.pop() if len(answers) == 1 else None


def _in_networks(
    endpoint: Endpoint, pattern: HostPattern, resolve: ResolveHost | None
) -> bool | None:
    if endpoint.address is not None:
        return in_networks(endpoint.address, pattern.networks)
    name = endpoint.host
    if is_localhost(name):
        return _all_alike(_LOCALHOST, pattern.networks)
    if pattern.word == "metadata" and name in METADATA_NAMES:
        return True
    if resolve is None:
        return False
    return _all_alike(resolve(name) or (), pattern.networks)


def is_localhost(name: str) -> bool:
    """Return whether a canonical name always means the machine itself, without a resolver."""
    return name == "localhost" or name.endswith(".localhost")


def _all_alike(addresses: Iterable[str], networks: tuple[Network, ...]) -> bool | None:
    answers: set[bool | None] = set()
    for text in addresses:
        address: Address | None = read_address(text)
        answers.add(None if address is None else in_networks(address, networks))
    return answers.pop() if len(answers) == 1 else None


# ------------------------------------------------------------------ reading items


def _split_place(text: str) -> tuple[str, str]:
    """Split an item without its scheme into host or network with port, and path."""
    network = _NETWORK.match(text)
    start = text.find("]") + 1 if text.startswith("[") else 0
    if network and _read_networks(network[0]):
        start = network.end()
    slash = text.find("/", start)
    return (text, "") if slash < 0 else (text[:slash], text[slash:])


def _read_networks(text: str) -> tuple[Network, ...]:
    """Parse a network, or an address as the network of only itself, with mapped IPv4 as IPv4."""
    inner, closed, length = text[1:].partition("]") if text.startswith("[") else (text, "", "")
    if length and not length.startswith("/"):
        return ()  # a port, as in `[::1]:80`, is no part of the address
    if text.startswith("[") and not closed:
        return ()
    try:
        network = ip_network(inner + length)
    except ValueError:
        return ()
    if isinstance(network, IPv4Network):
        return (network,)
    return (network, *_mapped(network))


_MAPPED = IPv6Network("::ffff:0:0/96")


def _mapped(network: IPv6Network) -> tuple[IPv4Network, ...]:
    """Return the IPv4 addresses in an IPv6 network; those are compared as IPv4."""
    if network.subnet_of(_MAPPED):
        low = IPv4Address(int(network.network_address) & 0xFFFFFFFF)
        return (IPv4Network((low, network.prefixlen - 96)),)
    return (IPv4Network("0.0.0.0/0"),) if _MAPPED.subnet_of(network) else ()


def _read_base(host: str) -> tuple[str | None, bool, tuple[Network, ...]] | Unreadable:
    if host == "*":
        return None, False, ()
    networks = _read_networks(host)
    if networks:
        return None, False, networks
    below = host.startswith("*.")
    bare = host[2:] if below else host
    if "*" in bare or "?" in bare:
        return Unreadable(reason=f"a host allows a wildcard only as a leading `*.`: {quote(host)}")
    name = canonical_name(bare)
    if isinstance(name, Unreadable):
        return name
    if name in NETWORK_WORDS or name == REDIRECTED:
        return Unreadable(
            reason=f"the word `{name}` must be alone and in lower case: {quote(host)}"
        )
    return name, below, ()


def _canonical_glob(text: str) -> str | None:
    """Return a path pattern in the canonical form of URLs, with its wildcards unchanged."""
    if "?" in text or "#" in text or "\\" in text:
        return None
    pieces = text.split("*")
    if any(part in (".", "..") for piece in pieces for part in piece.split("/")):
        return None
    settled = [canonical_path("/" + piece) for piece in pieces]
    if any(piece is None for piece in settled):
        return None
    return "*".join((piece or "/")[1:] for piece in settled)

"""Patterns of hosts: their text read once, and endpoints judged in sets of them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import ip_network

from policy.facts import ResolveHost
from policy.values.address import (
    METADATA_NAMES,
    NETWORK_WORDS,
    Address,
    Network,
    in_networks,
    read_address,
)
from policy.values.glob import compile_path_glob
from policy.values.host import DEFAULT_PORTS, Endpoint, canonical_name, canonical_path
from policy.values.logic import any_of, both, negate
from policy.values.reading import Unreadable
from policy.values.text import quote

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_PORT = re.compile(r":([0-9]{1,5})$")
_LOCALHOST = (read_address("127.0.0.1"), read_address("::1"))


@dataclass(frozen=True, slots=True, kw_only=True)
class HostPattern:
    """One item of a set of hosts: a name, the names below one, networks, or anything.

    Exactly one of `name` and `networks` is set, or neither: any host. `below` means the
    subdomains of `name` and not the name itself. A scheme, port or path that is None is any.
    """

    name: str | None = None
    below: bool = False
    word: str | None = None
    networks: tuple[Network, ...] = ()
    scheme: str | None = None
    port: int | None = None
    path: str | None = None


def read_host_pattern(text: str) -> HostPattern | Unreadable:
    """Read an item such as `*.corp.example`, `10.0.0.0/8`, `https://api.example/v1/**`."""
    if text in NETWORK_WORDS:
        return HostPattern(word=text, networks=NETWORK_WORDS[text])
    network = _read_network(text)
    if network is not None:
        return HostPattern(networks=(network,))
    found = _SCHEME.match(text)
    scheme = found[1].lower() if found else None
    if scheme is not None and scheme not in DEFAULT_PORTS:
        return Unreadable(reason=f"not a scheme that names a host: {quote(scheme)}")
    rest = text[found.end() :] if found else text
    place, slash, tail = rest.partition("/")
    port = _PORT.search(place)
    host = place[: port.start()] if port else place
    number = int(port[1]) if port else None
    if number is not None and not 0 < number < 65_536:
        return Unreadable(reason=f"not a port: {quote(text)}")
    path = None
    if tail:
        path = _canonical_glob(slash + tail)
        if path is None:
            return Unreadable(reason=f"not a path pattern of a URL: {quote(text)}")
    base = _read_base(host)
    if isinstance(base, Unreadable):
        return base
    name, below, networks = base
    if networks and tail.isdigit():
        return Unreadable(reason=f"a network whose address has bits beyond it: {quote(text)}")
    return HostPattern(
        name=name, below=below, networks=networks, scheme=scheme, port=number, path=path
    )


def host_in(
    endpoint: Endpoint,
    patterns: tuple[HostPattern, ...],
    excluded: tuple[HostPattern, ...],
    resolve: ResolveHost | None,
) -> bool | None:
    """Tell whether the endpoint is in `patterns` without `excluded`.

    Names are judged against names, addresses, spelled or resolved, against networks. A name
    whose addresses are unknown, or in part inside, is undecidable against networks; without
    a resolver only names that always mean the same are held against networks.
    """
    inside = any_of(_fits(endpoint, pattern, resolve) for pattern in patterns)
    if not excluded or inside is False:
        return inside
    return both(inside, negate(any_of(_fits(endpoint, item, resolve) for item in excluded)))


def _fits(endpoint: Endpoint, pattern: HostPattern, resolve: ResolveHost | None) -> bool | None:
    if pattern.scheme is not None and pattern.scheme != endpoint.scheme:
        return False
    if pattern.port is not None and pattern.port != endpoint.port:
        return False
    host = _fits_host(endpoint, pattern, resolve)
    if host is False or pattern.path is None:
        return host
    if endpoint.path is None:
        return None
    return both(host, compile_path_glob(pattern.path)(endpoint.path))


def _fits_host(
    endpoint: Endpoint, pattern: HostPattern, resolve: ResolveHost | None
) -> bool | None:
    if pattern.networks:
        return _in_networks(endpoint, pattern, resolve)
    if pattern.name is None:
        return True
    if endpoint.address is not None:
        return False
    if pattern.below:
        return endpoint.host.endswith("." + pattern.name)
    return endpoint.host == pattern.name


def _in_networks(
    endpoint: Endpoint, pattern: HostPattern, resolve: ResolveHost | None
) -> bool | None:
    if endpoint.address is not None:
        return in_networks(endpoint.address, pattern.networks)
    name = endpoint.host
    if name == "localhost" or name.endswith(".localhost"):
        return any_of(in_networks(home, pattern.networks) for home in _LOCALHOST if home)
    if pattern.word == "metadata" and name in METADATA_NAMES:
        return True
    if resolve is None:
        return False
    return _all_alike(_addresses(resolve(name)), pattern.networks)


def _addresses(texts: Iterable[str] | None) -> tuple[Address | None, ...]:
    return tuple(read_address(text) for text in texts or ())


def _all_alike(addresses: tuple[Address | None, ...], networks: tuple[Network, ...]) -> bool | None:
    answers = {None if address is None else in_networks(address, networks) for address in addresses}
    return answers.pop() if len(answers) == 1 else None


def _read_network(text: str) -> Network | None:
    try:
        return ip_network(text.removeprefix("[").removesuffix("]"))
    except ValueError:
        return None


def _read_base(host: str) -> tuple[str | None, bool, tuple[Network, ...]] | Unreadable:
    if host == "*":
        return None, False, ()
    network = _read_network(host)
    if network is not None:
        return None, False, (network,)
    below = host.startswith("*.")
    bare = host[2:] if below else host
    if "*" in bare or "?" in bare:
        return Unreadable(reason=f"a host takes a wildcard only as `*.` before it: {quote(host)}")
    name = canonical_name(bare)
    return name if isinstance(name, Unreadable) else (name, below, ())


def _canonical_glob(text: str) -> str | None:
    """Make a path pattern canonical as URLs are, leaving its wildcards."""
    if "?" in text or "#" in text or "\\" in text:
        return None
    pieces = text.split("*")
    if any(part in (".", "..") for piece in pieces for part in piece.split("/")):
        return None
    settled = [canonical_path("/" + piece) for piece in pieces]
    if any(piece is None for piece in settled):
        return None
    return "*".join((piece or "/")[1:] for piece in settled)

"""Opens a connection to one of the addresses that a host was judged by, and to no other."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from ipaddress import ip_address
from typing import TypeAlias

from policy.sandbox.network.connecting import NotReached, Peer
from policy.sandbox.network.relaying import CHUNK
from policy.values import (
    NETWORK_WORDS,
    Endpoint,
    HostPattern,
    host_in,
    read_address,
    read_host_pattern,
)

_SECONDS = 10.0
# Of a host with more addresses than this, the first ones are tried.
_MOST = 8

# Opens a connection to an address and port; raises OSError.
Dial: TypeAlias = Callable[[str, int], Awaitable[Peer]]


async def dial(address: str, port: int) -> Peer:
    """Connect to an address, never by a name."""
    return Peer.of(await asyncio.open_connection(address, port, limit=CHUNK))


async def open_one(addresses: Iterable[str], port: int, *, dial: Dial = dial) -> Peer:
    """Connect to the first of these addresses that can be; raise NotReached."""
    why = "it has no address"
    for address in list(addresses)[:_MOST]:
        try:
            async with asyncio.timeout(_SECONDS):
                return await dial(address, port)
        except TimeoutError:
            why = "it does not answer"
        except OSError as error:
            why = (error.strerror or type(error).__name__).lower()
    raise NotReached(why)


def is_public(address: str) -> bool:
    """Return whether an address is one of the internet, and not of this machine or its network."""
    read = read_address(address)
    if read is None:
        return False
    endpoint = Endpoint(scheme="https", host=str(read), port=443, path=None, address=read)
    return ip_address(read).is_global and host_in(endpoint, _NETWORKS, (), None) is False


def _patterns() -> tuple[HostPattern, ...]:
    read = map(read_host_pattern, NETWORK_WORDS)
    return tuple(pattern for pattern in read if isinstance(pattern, HostPattern))


_NETWORKS = _patterns()

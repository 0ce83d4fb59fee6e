"""`ListedHosts`: connects to the hosts of a list, such as that of an MCP server."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import TypeAlias

from policy.sandbox.network.connecting import NotPermitted, NotReached, Peer
from policy.sandbox.network.opening import Dial, dial, is_public, open_one
from policy.sandbox.network.target import Target
from policy.values import (
    Endpoint,
    HostPattern,
    host_in,
    is_localhost,
    read_address,
    read_host_pattern,
)

# Looks up a host name; None where it does not resolve.
LookUp: TypeAlias = Callable[[str], Awaitable[tuple[str, ...] | None]]
_LOCALHOST = ("127.0.0.1", "::1")
_UNLISTED = "`connects` does not name it"


class HostList:
    """Hosts as a configuration or a manifest lists them."""

    def __init__(self, hosts: Iterable[str]) -> None:
        read = (read_host_pattern(host) for host in hosts)
        self._patterns = tuple(each for each in read if isinstance(each, HostPattern))

    def covers(self, target: Target, address: str | None = None) -> bool:
        """Return whether the list covers a host by its name, or one of its addresses."""
        read = None if address is None else read_address(address)
        if address is not None and read is None:
            return False
        host = target.host if read is None else str(read)
        endpoint = Endpoint(
            scheme=target.scheme, host=host, port=target.port, path=None, address=read
        )
        return host_in(endpoint, self._patterns, (), None) is True

    def may_cover_address_of(self, target: Target) -> bool:
        """Return whether it has networks, in which the address of a name may be."""
        return any(_may_hold(pattern, target) for pattern in self._patterns)


class ListedHosts:
    """Permits what a list covers. A name is looked up once, and only what was found is used.

    An address that is not of the internet is used only if the list covers the address itself:
    whoever owns a name could otherwise lead a program to this machine, or into its network.
    """

    def __init__(self, hosts: Iterable[str], look_up: LookUp, *, dial: Dial = dial) -> None:
        self._list = HostList(hosts)
        self._look_up = look_up
        self._dial = dial

    async def __call__(self, target: Target) -> Peer:
        """Return a connection; raise NotPermitted or NotReached."""
        return await open_one(await self._addresses(target), target.port, dial=self._dial)

    async def _addresses(self, target: Target) -> tuple[str, ...]:
        """Return the addresses of a host that may be connected to."""
        if target.address:
            if not self._list.covers(target, target.host):
                raise NotPermitted(_UNLISTED)
            return (target.host,)
        if is_localhost(target.host):
            # Nobody can make this name mean anything else.
            if not self._list.covers(target):
                raise NotPermitted(_UNLISTED)
            return _LOCALHOST
        named = self._list.covers(target)
        if not named and not self._list.may_cover_address_of(target):
            raise NotPermitted(_UNLISTED)  # a name that is looked up may carry something out
        found = await self._look_up(target.host) or ()
        if not found:
            raise NotReached("its name does not resolve")
        usable = tuple(
            address
            for address in found
            if (named and is_public(address)) or self._list.covers(target, address)
        )
        if not usable:
            raise NotPermitted("its address is not of the internet, and `connects` names no such")
        return usable


def _may_hold(pattern: HostPattern, target: Target) -> bool:
    """Return whether the address of a name may be in the networks of a pattern."""
    return (
        bool(pattern.networks)
        and pattern.port in (None, target.port)
        and pattern.scheme in (None, target.scheme)
    )

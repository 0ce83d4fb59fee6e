"""What a plugin may touch when it runs: what its manifest needs and the configuration grants."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from policy.capabilities import ANY_PATH, PluginAccess
from policy.generation import Network, Reach
from policy.sandbox import is_within


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedAccess:
    """The part of a grant that the manifest asks for; never more than either.

    With the network `hosts`, each list of `hosts` has to cover a host that is connected to.
    """

    reach: Reach
    hosts: tuple[tuple[str, ...], ...] = ()


def shared_access(needed: PluginAccess, granted: Reach) -> SharedAccess:
    """Return what a manifest and a configuration share."""
    network = _narrower(needed.network, granted.network)
    hosts: list[tuple[str, ...]] = []
    if network == "hosts":
        hosts += [needed.connects] if needed.network == "hosts" else []
        hosts += [granted.connects] if granted.network == "hosts" else []
    reach = replace(
        granted,
        reads=tuple(dict.fromkeys(_shared(needed.reads, granted.reads))),
        writes=tuple(dict.fromkeys(_shared(needed.writes, granted.writes))),
        network=network,
        connects=hosts[-1] if hosts else (),
    )
    return SharedAccess(reach=reach, hosts=tuple(hosts))


def _narrower(one: Network, other: Network) -> Network:
    return min(one, other, key=("none", "hosts", "all").index)


def _shared(needed: Iterable[str], granted: Iterable[str]) -> Iterator[str]:
    wanted = [path if path == ANY_PATH else os.path.normpath(path) for path in needed]
    for path in map(os.path.normpath, granted):
        if any(one == ANY_PATH or is_within(path, (one,)) for one in wanted):
            yield path
        else:
            yield from (one for one in wanted if one != ANY_PATH and is_within(one, (path,)))

"""A set of host patterns, prepared for testing many endpoints.

The answers are those of `host_in`, which tries one pattern after the other. A name is looked up
among the names and the domains of the set; only networks, and patterns with a scheme, port or path,
are tried. Names are resolved anew in every call.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TypeAlias

from policy.model import ResolveHost
from policy.values.hosts.address import METADATA_NAMES
from policy.values.hosts.endpoint import Endpoint
from policy.values.hosts.pattern import REDIRECTED, HostPattern, is_localhost, matches_endpoint
from policy.values.logic import both, negate

_NAMES_REMEMBERED = 1024


_Spelled: TypeAlias = tuple[frozenset[str], frozenset[str], frozenset[str], frozenset[str]]


class PreparedHosts:
    """`patterns` without `excluded`, prepared for tests."""

    __slots__ = ("_excluded", "_patterns")

    def __init__(
        self, patterns: tuple[HostPattern, ...], excluded: tuple[HostPattern, ...]
    ) -> None:
        self._patterns = _HostIndex(patterns)
        self._excluded = _HostIndex(excluded) if excluded else None

    @property
    def spelled(
        self,
    ) -> tuple[frozenset[str], frozenset[str], frozenset[str], frozenset[str]] | None:
        """The names and domains in the set, and those excluded; None if it has other patterns."""
        ins, outs = self._patterns, self._excluded
        if not ins.only_names or (outs is not None and not outs.only_names):
            return None
        if outs is None:
            return ins.names, ins.domains, frozenset(), frozenset()
        return ins.names, ins.domains, outs.names, outs.domains

    def contains(self, endpoint: Endpoint, resolve: ResolveHost | None) -> bool | None:
        """Return whether the endpoint is in the set, as `host_in` does."""
        inside = self._patterns.matches(endpoint, resolve)
        if self._excluded is None or inside is False:
            return inside
        return both(inside, negate(self._excluded.matches(endpoint, resolve)))


class _HostIndex:
    """Patterns by their name or domain; `_others` have neither.

    `only_names`: there are no others.
    """

    __slots__ = ("_below", "_exact", "_others", "_words_alone", "domains", "names", "only_names")

    def __init__(self, patterns: tuple[HostPattern, ...]) -> None:
        names: set[str] = set()
        domains: set[str] = set()
        exact: dict[str, list[HostPattern]] = {}
        below: dict[str, list[HostPattern]] = {}
        others: list[HostPattern] = []
        for pattern in patterns:
            name = pattern.name
            if pattern.word == REDIRECTED:
                continue
            if name is None:
                others.append(pattern)
            elif pattern.scheme is None and pattern.port is None and pattern.path is None:
                (domains if pattern.below else names).add(name)
            else:
                (below if pattern.below else exact).setdefault(name, []).append(pattern)
        self.names, self.domains = frozenset(names), frozenset(domains)
        self._exact, self._below = exact, below
        self._others = tuple(others)
        self._words_alone = all(pattern.networks for pattern in others)
        self.only_names = not (exact or below or others)

    def matches(self, endpoint: Endpoint, resolve: ResolveHost | None) -> bool | None:
        """Return whether one of the patterns matches the endpoint."""
        unknown = False
        if endpoint.address is None:
            host = endpoint.host
            if host in self.names or not self.domains.isdisjoint(domains_of(host)):
                return True
            for pattern in self._near(host):
                answer = matches_endpoint(endpoint, pattern, resolve)
                if answer:
                    return True
                unknown = unknown or answer is None
            if resolve is None and self._words_alone and not _is_known(host):
                # Without a resolver, a name is in no network.
                return None if unknown else False
        for pattern in self._others:
            answer = matches_endpoint(endpoint, pattern, resolve)
            if answer:
                return True
            unknown = unknown or answer is None
        return None if unknown else False

    def _near(self, host: str) -> list[HostPattern]:
        found = self._exact.get(host, [])
        if self._below:
            found = [*found]
            for domain in domains_of(host):
                found += self._below.get(domain, ())
        return found


def _is_known(host: str) -> bool:
    """Return whether the addresses of a name are fixed."""
    return is_localhost(host) or host in METADATA_NAMES


@lru_cache(maxsize=_NAMES_REMEMBERED)
def domains_of(host: str) -> tuple[str, ...]:
    """Return the domains that a name is below."""
    found: list[str] = []
    place = host.find(".")
    while place >= 0:
        found.append(host[place + 1 :])
        place = host.find(".", place + 1)
    return tuple(found)

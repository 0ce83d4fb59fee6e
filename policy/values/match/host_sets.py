"""An index of many sets of hosts: finds those that contain an endpoint by its name and domains.

The answers are those of each `PreparedHosts`. Sets with networks, schemes, ports or paths are not
indexed, and neither is an endpoint that is an address.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from policy.values.hosts.endpoint import Endpoint
from policy.values.match.one_host_set import PreparedHosts, domains_of

_Numbers = tuple[int, ...]
_Index = dict[str, _Numbers]


class HostSets:
    """Sets by number; those in `unindexed` are not indexed and must be asked one by one."""

    __slots__ = ("_domains", "_names", "_out_domains", "_out_names", "unindexed")

    def __init__(self, sets: Mapping[int, PreparedHosts]) -> None:
        tables: list[dict[str, list[int]]] = [defaultdict(list) for _ in range(4)]
        unsure: list[int] = []
        for number, prepared in sets.items():
            spelled = prepared.spelled
            if spelled is None:
                unsure.append(number)
                continue
            for table, texts in zip(tables, spelled, strict=True):
                for text in texts:
                    table[text].append(number)
        self._names, self._domains, self._out_names, self._out_domains = map(_fixed, tables)
        self.unindexed = tuple(unsure)

    def containing(self, endpoint: Endpoint) -> set[int] | None:
        """Return the numbers of the sets that contain an endpoint; None if each must be asked."""
        if endpoint.address is not None:
            return None
        host = endpoint.host
        found = _named(host, self._names, self._domains)
        if found and (self._out_names or self._out_domains):
            found -= _named(host, self._out_names, self._out_domains)
        return found


def _named(host: str, names: _Index, domains: _Index) -> set[int]:
    found: set[int] = set(names.get(host, ()))
    if domains:
        for domain in domains_of(host):
            numbers = domains.get(domain)
            if numbers is not None:
                found.update(numbers)
    return found


def _fixed(numbers: Mapping[str, list[int]]) -> _Index:
    return {text: tuple(dict.fromkeys(each)) for text, each in numbers.items()}

"""Whether code that runs already, in a sandbox of its own, keeps within the bounds of a call.

A program that serves many calls cannot be confined again for each of them. A call whose rules rely
on narrower bounds than the program has must not be sent to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from policy.generation import SandboxSettings
from policy.model import Bound, ConfinedVerb, Confinement, ResourceSet
from policy.sandbox.name_search import NotSearched
from policy.sandbox.narrowing import permitted_paths, taken_away, taken_sets
from policy.sandbox.path_resolver import PathResolver
from policy.sandbox.plan import SandboxPlan
from policy.sandbox.system_view import NO_SYSTEM, SystemView, system_view
from policy.values import NETWORK_WORDS, HostPattern, PlainPath, read_host_pattern


def exceeded_verb(
    plan: SandboxPlan,
    hosts: Iterable[str],
    confinement: Confinement,
    *,
    writable: Iterable[str] = (),
) -> ConfinedVerb | None:
    """Return a verb on whose bound the rules rely, and which code in a plan may exceed.

    `hosts` are the patterns of hosts that it reaches, if its network is `hosts`. Sets of hosts are
    compared pattern by pattern: one that is covered by several others together exceeds them. No
    link is followed in what is `writable` for code in some sandbox.
    """
    resolver = PathResolver((*writable, *plan.writes))
    for verb in confinement.relied_on:
        bound = confinement.bound(verb)
        if bound is None:
            continue
        if verb == "connects":
            within = plan.network == "none" or (
                plan.network == "hosts" and all(_host_is_within(host, bound) for host in hosts)
            )
        else:
            paths = (*plan.writes, *(plan.reads if verb == "reads" else ()))
            # What rules deny of the system is hidden in no server's sandbox, only in a command's.
            takes_away = verb == "reads" and bound.without
            system = system_view(private=plan.private) if takes_away else NO_SYSTEM
            within = _paths_are_within(paths, bound, resolver=resolver, system=system)
        if not within:
            return verb
    return None


def _paths_are_within(
    paths: tuple[str, ...], bound: Bound, *, resolver: PathResolver, system: SystemView
) -> bool:
    permitted = permitted_paths(bound, resolver)
    try:
        search = SandboxSettings().search
        taken = taken_away(taken_sets(bound), paths, search=search, system=system)
    except NotSearched:
        return False
    if permitted is None or taken:
        return False
    trees = (PlainPath(path=path, tree=True) for path in paths)
    return all(any(one.covers(tree) for one in permitted) for tree in trees)


def _host_is_within(host: str, bound: Bound) -> bool:
    """Return whether all that a pattern covers is within a bound."""
    pattern = read_host_pattern(host)
    if not isinstance(pattern, HostPattern):
        return False
    return all(
        any(
            _covers(item, pattern)
            for one in union
            for item in _items(one.resources, with_exceptions=False)
        )
        for union in bound.within
    ) and not any(
        _may_share(item, pattern)
        for one in bound.without
        for item in _items(one.resources, with_exceptions=True)
    )


def _items(resources: ResourceSet, *, with_exceptions: bool) -> Iterator[HostPattern]:
    """Yield the patterns of a set and of those in it, or of those of them without exceptions."""
    if resources.excluded and not with_exceptions:
        return
    for item in resources.included:
        if isinstance(item, ResourceSet):
            yield from _items(item, with_exceptions=with_exceptions)
        elif isinstance(read := read_host_pattern(item), HostPattern):
            yield read


def _covers(one: HostPattern, other: HostPattern) -> bool:
    if one.path is not None or one.scheme not in (None, other.scheme):
        return False
    if one.port not in (None, other.port):
        return False
    if one.networks or one.name is None:
        return one.networks == other.networks if one.networks else one.word is None
    if other.name is None:
        return False
    if one.below:
        return other.name.endswith(f".{one.name}") or (other.below and other.name == one.name)
    return other.name == one.name and not other.below


def _may_share(one: HostPattern, other: HostPattern) -> bool:
    """Return whether two patterns may have a host in common."""
    if one.name is None or other.name is None:
        # The proxy connects a name to no address that these words stand for.
        return not (one.word in NETWORK_WORDS and other.name is not None)
    if one.name == other.name:
        return one.below == other.below
    return (one.below and other.name.endswith(f".{one.name}")) or (
        other.below and one.name.endswith(f".{other.name}")
    )

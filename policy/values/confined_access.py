"""Judges single accesses by a `Confinement`, with the meaning that sets have in rules.

Links, letter case, other spellings and exceptions count as they do there. What cannot be decided is
outside.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from policy.model import (
    Bound,
    ConfinedVerb,
    Confinement,
    NamedResources,
    ResolveHost,
    ResourceSet,
)
from policy.values.hosts.endpoint import DEFAULT_PORTS, Endpoint, read_endpoint
from policy.values.hosts.pattern import HostPattern, host_in, read_host_pattern
from policy.values.logic import any_of, both, negate
from policy.values.paths.membership import path_in
from policy.values.paths.path import Path, PathContext, read_path
from policy.values.paths.pattern import PathPattern
from policy.values.unreadable import Unreadable

_Holds: TypeAlias = Callable[[ResourceSet], bool | None]
_UNDECIDED = "whether a set covers it cannot be decided"
# The schemes that a connection to a port certainly has, for a client that does not tell.
_USUAL_SCHEMES = {443: "https", 80: "http"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """An access outside of a confinement.

    `rules` are those that set the limit: the ones that do not cover the resource, or the one that
    names it. `why` is set where it could not be decided.
    """

    verb: ConfinedVerb
    target: str
    rules: tuple[str, ...]
    why: str = ""


def path_violation(
    confinement: Confinement,
    verb: Literal["reads", "writes"],
    text: str,
    context: PathContext,
) -> Violation | None:
    """Return why a file may not be accessed; None if it may."""
    bound = confinement.bound(verb)
    if bound is None:
        return None
    path = read_path(text, context)
    if isinstance(path, Unreadable):
        return Violation(verb=verb, target=text, rules=_limiting(bound), why=path.reason)
    return _violation(
        verb, text, bound, lambda resources: path_in_resources(path, resources, context=context)
    )


def host_violation(
    confinement: Confinement,
    host: str,
    port: int,
    *,
    scheme: str | None = None,
    resolve: ResolveHost | None = None,
) -> Violation | None:
    """Return why a host and port may not be connected to; None if they may.

    Without a `scheme`, that of the port counts if it is http or https, else any.
    """
    bound = confinement.connects
    if bound is None:
        return None
    shown = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    found = read_endpoint(f"https://{shown}")
    if isinstance(found, Unreadable):
        return Violation(verb="connects", target=shown, rules=_limiting(bound), why=found.reason)
    known = scheme or _USUAL_SCHEMES.get(port)
    schemes = tuple(DEFAULT_PORTS) if known is None else (known.lower(),)
    # Which path of a URL is fetched is not known.
    readings = [replace(found, scheme=each, path=None) for each in schemes]
    return _violation(
        "connects", shown, bound, lambda resources: _holds_host(resources, readings, resolve)
    )


def _violation(verb: ConfinedVerb, target: str, bound: Bound, holds: _Holds) -> Violation | None:
    for union in bound.within:
        inside = any_of(holds(one.resources) for one in union)
        if inside is not True:
            why = "" if inside is False else _UNDECIDED
            return Violation(verb=verb, target=target, rules=_names(union), why=why)
    for one in bound.without:
        covered = holds(one.resources)
        if covered is not False:
            why = "" if covered is True else _UNDECIDED
            return Violation(verb=verb, target=target, rules=(one.rule,), why=why)
    return None


def _names(union: Iterable[NamedResources]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one.rule for one in union))


def _limiting(bound: Bound) -> tuple[str, ...]:
    """Return the rules that set a bound."""
    unions = (one for union in bound.within for one in union)
    return _names((*unions, *bound.without))


def path_in_resources(path: Path, resources: ResourceSet, *, context: PathContext) -> bool | None:
    """Return whether a set covers a path; None where that cannot be decided."""
    included, inner = _split(resources.included)
    excluded, inner_out = _split(resources.excluded)
    # Plain items and plain exceptions are tested together, as in sets of rules.
    outs = () if inner else _paths(excluded)
    inside = any_of(
        (
            path_in(path, _paths(included), outs, context),
            *(path_in_resources(path, each, context=context) for each in inner),
        )
    )
    out = any_of(
        (
            path_in(path, _paths(excluded) if inner else (), (), context),
            *(path_in_resources(path, each, context=context) for each in inner_out),
        )
    )
    return both(inside, negate(out))


def _paths(globs: Iterable[str]) -> tuple[PathPattern, ...]:
    return tuple(
        PathPattern(glob=glob, base="root" if glob.startswith("/") else "floating")
        for glob in globs
    )


def _holds_host(
    resources: ResourceSet, readings: Iterable[Endpoint], resolve: ResolveHost | None
) -> bool | None:
    """Return whether a set covers a connection in all of its readings."""
    answers = {_in_hosts(each, resources, resolve) for each in readings}
    return answers.pop() if len(answers) == 1 else None


def _in_hosts(
    endpoint: Endpoint, resources: ResourceSet, resolve: ResolveHost | None
) -> bool | None:
    included, inner = _split(resources.included)
    excluded, inner_out = _split(resources.excluded)
    inside = any_of(
        (
            host_in(endpoint, _hosts(included), (), resolve),
            *(_in_hosts(endpoint, each, resolve) for each in inner),
        )
    )
    out = any_of(
        (
            host_in(endpoint, _hosts(excluded), (), resolve),
            *(_in_hosts(endpoint, each, resolve) for each in inner_out),
        )
    )
    return both(inside, negate(out))


def _hosts(items: Iterable[str]) -> tuple[HostPattern, ...]:
    read = map(read_host_pattern, items)
    return tuple(each for each in read if not isinstance(each, Unreadable))


def _split(
    items: tuple[str | ResourceSet, ...],
) -> tuple[tuple[str, ...], tuple[ResourceSet, ...]]:
    """Return the plain items and the sets among items."""
    return (
        tuple(item for item in items if isinstance(item, str)),
        tuple(item for item in items if isinstance(item, ResourceSet)),
    )

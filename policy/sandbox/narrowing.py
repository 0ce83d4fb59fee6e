"""Narrows what is configured to what the rules that allow a call let its code touch.

Only files and folders can be mounted. A bound that is none is left to the rules, which are not true
of unseen code then; where they are, a program is not started.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from policy.model import Bound, Confinement, ResourceSet
from policy.values import PlainPath, plain_bound, plain_paths

_MOST_LINKS = 40  # as many as Linux follows


@dataclass(frozen=True, slots=True, kw_only=True)
class NarrowedPaths:
    """Paths without links: what is read-only, what may be written, and what in them is left out.

    `masked` cannot be read, `kept` cannot be written. Of the rules' own paths, those that are
    missing are not among them.
    """

    reads: tuple[str, ...]
    writes: tuple[str, ...]
    masked: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()


def narrowed_paths(
    reads: Iterable[str], writes: Iterable[str], confinement: Confinement
) -> NarrowedPaths | str:
    """Return configured paths, without links, as a confinement narrows them; else why it cannot."""
    reads, writes = tuple(reads), tuple(writes)
    readable = _permitted(confinement.reads, writes)
    writable = _permitted(confinement.writes, writes)
    for verb, bound, permitted in (
        ("reads", confinement.reads, readable),
        ("writes", confinement.writes, writable),
    ):
        if bound is not None and permitted is None and verb in confinement.relied_on:
            return f"the sandbox cannot keep what it {verb} within the sets of the rules"
    read = {*_within((*reads, *writes), readable)}
    written = {*_within(_within(writes, readable), writable)}
    return NarrowedPaths(
        reads=tuple(sorted(read - written)),
        writes=tuple(sorted(written)),
        masked=tuple(_taken_away(confinement.reads, (*read, *written))),
        kept=tuple(_taken_away(confinement.writes, written)),
    )


def _permitted(bound: Bound | None, writable: tuple[str, ...]) -> tuple[PlainPath, ...] | None:
    """Return the paths that a bound permits, without links; None if that is not limited.

    A path that leads over a link in a `writable` folder is not among them: code may have put it
    there, to be granted what the rule does not name.
    """
    if bound is None:
        return None
    found = plain_bound(bound)
    if found is None:
        return None
    return tuple(
        PlainPath(path=os.path.realpath(one.path), tree=one.tree)
        for one in found
        if not _leads_over_link_in(one.path, writable)
    )


def _leads_over_link_in(path: str, folders: tuple[str, ...], *, links: int = 0) -> bool:
    """Return whether a link in one of some folders is on the way to a path; also too many links."""
    reached = "/"
    for part in path.split("/"):
        inside = os.path.realpath(reached)
        reached = os.path.join(inside, part)
        if not os.path.islink(reached):
            continue
        if links >= _MOST_LINKS or any(_holds(folder, inside) for folder in folders):
            return True
        target = os.path.normpath(os.path.join(inside, os.readlink(reached)))
        if _leads_over_link_in(target, folders, links=links + 1):
            return True
    return False


def _holds(folder: str, path: str) -> bool:
    return PlainPath(path=folder, tree=True).covers(PlainPath(path=path, tree=False))


def _within(paths: Iterable[str], permitted: tuple[PlainPath, ...] | None) -> tuple[str, ...]:
    """Return the parts of paths that are permitted; those that exist."""
    if permitted is None:
        return tuple(paths)
    found: set[str] = set()
    for path in paths:
        whole = PlainPath(path=path, tree=os.path.isdir(path))
        for one in permitted:
            if one.covers(whole):
                found.add(path)
            elif whole.covers(one) and _can_be_mounted(one):
                found.add(one.path)
    return tuple(sorted(found))


def _can_be_mounted(one: PlainPath) -> bool:
    """Return whether a path can be mounted alone: a folder shows everything below it."""
    return os.path.exists(one.path) and (one.tree or not os.path.isdir(one.path))


def _taken_away(bound: Bound | None, mounted: Iterable[str]) -> Iterator[str]:
    """Yield what rules take away of mounted paths; items with other wildcards are not among it.

    What a path leads to is taken away whole: also a folder that an item names without its contents.
    """
    roots = [PlainPath(path=path, tree=True) for path in mounted]
    unions = () if bound is None else bound.without
    paths = (os.path.realpath(one.path) for named in unions for one in _plain(named.resources))
    for path in sorted(set(paths)):
        whole = PlainPath(path=path, tree=True)
        inside = any(root.covers(whole) for root in roots)
        if os.path.exists(path) and (inside or any(map(whole.covers, roots))):
            yield path


def _plain(resources: ResourceSet) -> Iterator[PlainPath]:
    """Yield the plain items of a set; its exceptions are taken away with the rest."""
    for item in resources.included:
        if isinstance(item, ResourceSet):
            yield from _plain(item)
        else:
            yield from plain_paths(ResourceSet(included=(item,))) or ()

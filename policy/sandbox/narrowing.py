"""Narrows what is configured to what the rules that allow a call let its code touch.

Only files and folders can be mounted. A bound that is none is left to the rules, which are not true
of unseen code then; where they are, a program is not started. What rules take away is looked for on
the disk, also by wildcards.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from policy.model import Bound, Confinement, NamedResources, ResourceSet
from policy.sandbox.containment import is_within
from policy.sandbox.name_search import NamedPath, NameSearch, outermost, search_all
from policy.sandbox.path_resolver import PathResolver, UntrustedLink
from policy.sandbox.system_view import NO_SYSTEM, SystemView
from policy.values import PlainPath, plain_bound, plain_paths


class LinkTakesTooMuch(Exception):
    """What rules name is a link to what no command goes without; the text says which link it is."""


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
    reads: Iterable[str],
    writes: Iterable[str],
    confinement: Confinement,
    *,
    search: int,
    resolver: PathResolver,
    system: SystemView = NO_SYSTEM,
) -> NarrowedPaths | str:
    """Return configured paths, without links, as a confinement narrows them; else why it cannot.

    `search` is how many files and folders are looked at for those that rules name by wildcards; if
    it is 0, none is looked for. Of the `system`, which may be read whatever rules permit, what they
    take away is hidden as well. Raises NotSearched, and LinkTakesTooMuch for a link that `resolver`
    does not follow: a program may have made it, and no later one would find its files.
    """
    reads, writes = tuple(reads), tuple(writes)
    readable = permitted_paths(confinement.reads, resolver)
    writable = permitted_paths(confinement.writes, resolver)
    for verb, bound, permitted in (
        ("reads", confinement.reads, readable),
        ("writes", confinement.writes, writable),
    ):
        if bound is not None and permitted is None and verb in confinement.relied_on:
            return f"the sandbox cannot keep what it {verb} within the sets of the rules"
    read = {*_within((*reads, *writes), readable)}
    written = {*_within(_within(writes, readable), writable)}
    hiding, keeping = taken_sets(confinement.reads), taken_sets(confinement.writes)
    # What cannot be read cannot be written either.
    keeping = tuple(each for each in keeping if each not in hiding)
    masked, kept = _taken_away(
        _Asked(sets=hiding, mounted=(*read, *written), system=system),
        _Asked(sets=keeping, mounted=tuple(written)),
        search=search,
    )
    _require_rest(masked, mounted=(*read, *written), resolver=resolver, verb="read", system=system)
    _require_rest(kept, mounted=tuple(written), resolver=resolver, verb="write")
    masked = tuple(one for one in masked if not _is_missing(one.path))
    of_system = system.parts_in(one.path for one in masked)
    needed = system.needed_in(of_system)
    if needed is not None:
        return f"rules deny to read {needed}, without which no program starts"
    hidden = [one.path for one in masked]
    read, written = (
        {path for path in paths if not is_within(path, hidden)} for paths in (read, written)
    )
    masked = tuple(one for one in masked if is_within(one.path, (*read, *written)))
    return NarrowedPaths(
        reads=tuple(sorted(read - written)),
        writes=tuple(sorted(written)),
        masked=tuple(outermost((*(one.path for one in masked), *of_system))),
        kept=tuple(one.path for one in kept),
    )


def _require_rest(
    taken: Iterable[NamedPath],
    *,
    mounted: tuple[str, ...],
    resolver: PathResolver,
    verb: str,
    system: SystemView = NO_SYSTEM,
) -> None:
    """Raise LinkTakesTooMuch where a link takes away a folder that is mounted, or of programs."""
    for one in taken:
        programs = (
            part for part in system.parts_in((one.path,)) if not is_within(part, system.searched)
        )
        too_much = any(is_within(each, (one.path,)) for each in mounted) or any(programs)
        if one.link is not None and too_much and not resolver.trusts(one.link):
            raise LinkTakesTooMuch(
                f"rules deny to {verb} {one.link}, which leads over a symbolic link to {one.path}, "
                "and no command runs without that: a person has to remove the link"
            )


def _is_missing(path: str) -> bool:
    """Return whether a path leads nowhere, as that of a link to nothing does."""
    try:
        os.stat(path)
    except OSError as error:
        return error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)
    return False


def permitted_paths(bound: Bound | None, resolver: PathResolver) -> tuple[PlainPath, ...] | None:
    """Return the paths that a bound permits, without links; None if that is not limited.

    A path that leads over a link which `resolver` does not follow is not among them: code may have
    put it there, to be granted what the rule does not name.
    """
    if bound is None:
        return None
    found = plain_bound(bound)
    if found is None:
        return None
    return tuple(_resolved(found, resolver))


def _resolved(paths: Iterable[PlainPath], resolver: PathResolver) -> Iterator[PlainPath]:
    for one in paths:
        try:
            yield PlainPath(path=resolver.resolve(one.path), tree=one.tree)
        except UntrustedLink:
            continue


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


def taken_sets(bound: Bound | None) -> tuple[ResourceSet, ...]:
    """Return the sets that rules take away, each once."""
    named: tuple[NamedResources, ...] = () if bound is None else bound.without
    return tuple(dict.fromkeys(each.resources for each in named))


def taken_away(
    sets: Iterable[ResourceSet],
    mounted: Sequence[str],
    *,
    search: int,
    system: SystemView = NO_SYSTEM,
) -> tuple[NamedPath, ...]:
    """Return what some sets take away of mounted paths and the system; raise NotSearched.

    Each path comes once. What a path leads to is taken away whole: also a folder that an item names
    without its contents.
    """
    (taken,) = _taken_away(_Asked(sets=tuple(sets), mounted=mounted, system=system), search=search)
    return taken


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """Sets that take something away, and of what."""

    sets: Sequence[ResourceSet]
    mounted: Sequence[str]
    system: SystemView = NO_SYSTEM

    def search(self) -> NameSearch:
        folders = (*self.mounted, *self.system.searched)
        return NameSearch(self.sets, folders, if_named=self.system.paths)

    def plain(self) -> Iterator[NamedPath]:
        """Yield what is named without wildcards, if it exists."""
        for named in (each.path for resources in self.sets for each in _plain(resources)):
            path = os.path.realpath(named)
            if os.path.exists(path):
                link = None if path == named else named
                yield NamedPath(path=path, link=link)

    def touched_by(self, path: str) -> bool:
        return _touches(path, self.mounted) or self.system.touched_by(path)


def _taken_away(*asked: _Asked, search: int) -> list[tuple[NamedPath, ...]]:
    """Return what each of several groups of sets takes away of its paths."""
    searches = [one.search() for one in asked]
    if search:
        private = {path for one in asked for path in one.system.private}
        search_all(searches, most=search, private=private)
    taken = []
    for one, searched in zip(asked, searches, strict=True):
        # What is named without a link counts, where a link leads there as well.
        named = sorted((*searched.found, *one.plain()), key=lambda each: each.link is None)
        found = {each.path: each for each in named}
        touching = filter(one.touched_by, found)
        taken.append(tuple(found[path] for path in outermost(touching)))
    return taken


def _touches(path: str, mounted: Iterable[str]) -> bool:
    """Return whether a path is in a mounted one, or holds one."""
    return any(is_within(path, (root,)) or is_within(root, (path,)) for root in mounted)


def _plain(resources: ResourceSet) -> Iterator[PlainPath]:
    """Yield the plain items of a set; its exceptions are taken away with the rest."""
    for item in resources.included:
        if isinstance(item, ResourceSet):
            yield from _plain(item)
        else:
            yield from plain_paths(ResourceSet(included=(item,))) or ()

"""`SandboxPlan`: what one confined program may touch, as paths on this machine.

A plan is made before each start, from what is on the disk then. A path that is gone is an error. So
is one that leads over a link which code may have made: it would choose what it may touch.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from policy.generation import Network, ProcessLimits, Reach, SandboxSettings
from policy.model import Confinement
from policy.sandbox.containment import folders_above, is_within
from policy.sandbox.kept_names import run_without_call
from policy.sandbox.name_search import NotSearched, outermost
from policy.sandbox.narrowing import LinkTakesTooMuch, narrowed_paths
from policy.sandbox.path_resolver import PathResolver, UntrustedLink, in_home
from policy.sandbox.private_folders import private_folders, problem_of_workspace
from policy.sandbox.system_files import PROGRAMS, SCRATCH
from policy.sandbox.system_view import NO_SYSTEM, in_system, system_view

# A sandbox has its own folders in these places.
_OWN = ("/proc", "/dev", "/sys")
# A home folder is not empty where it is, or holds, one of these: users of services have such ones.
_NEVER_EMPTY = (*_OWN, "/etc", *PROGRAMS)


class CannotConfine(Exception):
    """A sandbox cannot be set up as it is wanted; the text says why.

    With `for_caller`, whoever called the tool is told, too: it names nothing that they do not see.
    """

    def __init__(self, text: str, *, for_caller: bool = False) -> None:
        super().__init__(text)
        self.for_caller = for_caller


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxPlan:
    """What a program may touch: absolute paths that exist, each once, a folder before its contents.

    `kept` are read-only in spite of `writes`, and the folders between (`immovable`) keep their
    names: otherwise a program could move them away, and put others in their place. The same holds
    for those above what is `masked`: one that moves while another sandbox starts would be missed
    there. `unkept` would be kept, but do not exist: the program may make them. `folder` is where it
    starts, `home` its home folder, which is empty unless it is among the paths. `masked` cannot be
    read, in spite of `reads` and `writes`. `private` are folders in those of the system, which hold
    nothing but what the plan names in them.
    """

    reads: tuple[str, ...]
    writes: tuple[str, ...]
    kept: tuple[str, ...]
    immovable: tuple[str, ...]
    unkept: tuple[str, ...]
    folder: str
    home: str
    network: Network
    limits: ProcessLimits
    masked: tuple[str, ...] = ()
    private: tuple[str, ...] = ()

    @property
    def in_memory(self) -> tuple[str, ...]:
        """The folders that are empty at first, in a sandbox with mounts of its own."""
        home = os.path.normpath(self.home)
        holds = any(is_within(one, (home,)) for one in _NEVER_EMPTY)
        return SCRATCH if holds or is_within(home, _NEVER_EMPTY) else (*SCRATCH, self.home)

    def hides(self, path: str) -> bool:
        """Return whether a path without links cannot be read, whatever folder it is in."""
        named = is_within(path, (*self.reads, *self.writes))
        return is_within(path, self.masked) or (is_within(path, self.private) and not named)


def plan_of(
    reach: Reach,
    *,
    folder: str,
    home: str,
    workspace: str | None,
    kept: Iterable[str] = (),
    confinement: Confinement | None = None,
    search: int = SandboxSettings().search,
    libraries: Iterable[str] = (),
    sees_system: bool = True,
    private: Iterable[str] = (),
    writable: Iterable[str] = (),
) -> SandboxPlan:
    """Return what a program may touch that starts in `folder`; raise CannotConfine.

    `workspace` may be written, None: there is none. The paths in `kept`, those that run code
    without being called, such as `.git/hooks`, and those of `reads` are read-only also in a folder
    that may be written. A `confinement` narrows all of it; for what it names by wildcards, at most
    `search` files and folders are looked at. The `libraries` can be read whatever it says, as those
    of the system; one that `sees_system` reads these, but nothing in a `private` folder or in the
    workspace beyond what is named. No link is followed in what this program may write, in `private`
    folders, and in what is `writable` for code in other sandboxes.
    """
    kept, private = tuple(kept), tuple(private)
    own = (*reach.writes, *(() if workspace is None else (workspace,)))
    resolver = PathResolver((*writable, *private, *(in_home(path, home) for path in own)))
    writes = [_existing(path, home, resolver) for path in reach.writes]
    if workspace is not None:
        workspace = _workspace(_existing(workspace, home, resolver))
        writes.append(workspace)
    reads = [_existing(path, home, resolver) for path in reach.reads]
    masked: tuple[str, ...] = ()
    hidden = private_folders((*private, *(() if workspace is None else (workspace,))))
    if confinement is not None:
        takes_away = confinement.reads is not None and confinement.reads.without
        system = system_view(private=hidden) if sees_system and takes_away else NO_SYSTEM
        try:
            narrowed = narrowed_paths(
                reads, writes, confinement, search=search, resolver=resolver, system=system
            )
        except NotSearched as error:
            raise CannotConfine(
                f"what rules deny by wildcards cannot all be found in its folders: {error}; a "
                f"person has to {error.remedy}",
                for_caller=True,
            ) from error
        except LinkTakesTooMuch as error:
            raise CannotConfine(str(error), for_caller=True) from error
        if isinstance(narrowed, str):
            raise CannotConfine(narrowed)
        reads, writes, masked = [*narrowed.reads], [*narrowed.writes], narrowed.masked
        kept = (*kept, *narrowed.kept)
    reads += [_existing(path, home, resolver) for path in libraries]
    if sees_system:
        masked = (*masked, *_protected_in_system(kept, (*reads, *writes, *masked, *hidden)))
    guarded = {*kept, *(path for each in writes for path in run_without_call(each))}
    guarded |= set(reads) - set(writes)
    inside = sorted(path for path in guarded if is_within(path, writes))
    there = [path for path in inside if os.path.lexists(path)]
    _require_no_links(there)
    if not is_within(folder, (*reads, *writes)) and not os.path.isdir(folder):
        raise CannotConfine(f"the folder {folder} does not exist")
    return SandboxPlan(
        reads=tuple(sorted(set(reads) - set(writes))),
        writes=tuple(sorted(set(writes))),
        kept=tuple(there),
        immovable=tuple(sorted(_immovable((*there, *masked), writes, there))),
        unkept=tuple(path for path in inside if not is_within(path, there)),
        folder=folder,
        home=home,
        network=_network(reach, confinement),
        limits=reach.limits,
        masked=masked,
        private=hidden if sees_system else (),
    )


def _network(reach: Reach, confinement: Confinement | None) -> Network:
    connects = None if confinement is None else confinement.connects
    return "none" if connects is not None and connects.is_nothing else reach.network


def _existing(path: str, home: str, resolver: PathResolver) -> str:
    try:
        full = resolver.resolve(named := in_home(path, home))
    except UntrustedLink as error:
        leads = "is" if error.link == named else f"leads over {error.link},"
        raise CannotConfine(
            f"{path} {leads} a symbolic link, which a program in a sandbox may have made: a person "
            "has to name what it leads to in `placet.toml`, or remove the link",
            for_caller=True,
        ) from error
    home = os.path.realpath(home)
    if full == "/" or is_within(full, _OWN) or (is_within(home, (full,)) and full != home):
        raise CannotConfine(f"{path} is too much: name the folders below it that are needed")
    if not os.path.exists(full):
        raise CannotConfine(f"there is no {full}, which `[sandbox]` names")
    return full


def _workspace(path: str) -> str:
    """Return a workspace; raise CannotConfine for one that holds programs of the system."""
    problem = problem_of_workspace(path)
    if problem is not None:
        raise CannotConfine(problem)
    return path


def _protected_in_system(kept: Iterable[str], seen: Collection[str]) -> Iterator[str]:
    """Yield files that Placet protects, in a folder of the system: with it, they would be read."""
    there = {os.path.realpath(path) for path in kept if os.path.exists(path)}
    for path in outermost(in_system(there)):
        if not is_within(path, seen):
            yield path


def _require_no_links(paths: Iterable[str]) -> None:
    """Raise for a path that must stay read-only, but leads over a link: the link may be changed.

    A program may have made the link where there was nothing, but so may a person, who relies on it.
    """
    for path in paths:
        # One that leads to itself stays as it is.
        if os.path.realpath(path) != path or os.path.islink(path):
            link = _first_link(path)
            named = "it" if link == path else link
            raise CannotConfine(
                f"{path} must stay read-only, but {named} is a symbolic link, which a program "
                "could replace: a person has to remove the link, or put a file or folder there",
                for_caller=True,
            )


def _first_link(path: str) -> str:
    """Return the uppermost link on the way to a path that leads over one, or the path itself."""
    above = os.path.dirname(path)
    return path if os.path.realpath(above) == above else _first_link(above)


def _immovable(
    paths: Iterable[str], writes: Collection[str], kept: Collection[str]
) -> Iterator[str]:
    """Yield the folders above some paths that keep their names; what is read-only does already."""
    found = {one for path in paths for one in folders_above(path, writes)} - set(writes)
    yield from (one for one in found if not is_within(one, kept))

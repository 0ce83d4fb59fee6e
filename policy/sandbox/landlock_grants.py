"""What Landlock grants for a plan: rights by paths, such that what is hidden has none.

A right on a folder is one on all that is in it, and no later rule takes it back. So where a file in
a folder is hidden, or stays read-only, what stands beside it gets the right instead, and nothing
new is made there. A folder can be listed only together with those in it: where one of these is
hidden, it cannot be listed. That is good enough for the folders of the system, not for a workspace.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping

from policy.sandbox.containment import folders_above, is_within
from policy.sandbox.landlock_rights import READ, READ_FOLDER, USE_DEVICE, WRITE
from policy.sandbox.pinned_paths import MOST
from policy.sandbox.plan import CannotConfine, SandboxPlan
from policy.sandbox.system_files import ETC, SYSTEM

_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
# Of /proc what is about no process: the command lines of all of them stand there.
_MACHINE = ("cpuinfo", "filesystems", "loadavg", "meminfo", "stat", "sys", "uptime", "version")
# Those for the system and for temporary files, which are granted besides.
_SPARE = 10


def system_rights() -> dict[str, int]:
    """Return the rights on what every program needs, by paths without links."""
    read = (*SYSTEM, *(f"/etc/{name}" for name in ETC), *(f"/proc/{name}" for name in _MACHINE))
    return {
        os.path.realpath(path): rights
        for paths, rights in ((read, READ), (_DEVICES, USE_DEVICE))
        for path in paths
        if os.path.exists(path)
    }


def granted_rights(plan: SandboxPlan) -> dict[str, int]:
    """Return all rights of a plan, by paths without links; raise CannotConfine."""
    seen = (*plan.reads, *plan.writes)
    for path in plan.masked:
        if is_within(path, seen) and os.path.isdir(path):
            raise _cannot_hide(path, "it is a folder")
    found = _without(system_rights(), (*plan.masked, *plan.private))
    for path, rights in _without(_of_plan(plan), plan.masked).items():
        found[path] = found.get(path, 0) | rights
    if len(found) > MOST - _SPARE and (plan.masked or plan.private):
        named = (*plan.masked, *plan.private)
        of_all = "it" if len(plan.masked) < 2 else f"all {len(plan.masked):,} that are hidden"
        raise _cannot_hide(
            named[0], f"more than {MOST - _SPARE} files and folders are beside {of_all}"
        )
    return found


def closed_folders(plan: SandboxPlan) -> tuple[str, ...]:
    """Return the folders in which nothing can be made in spite of the plan."""
    above = {folder for path in plan.masked for folder in folders_above(path, plan.writes)}
    return tuple(sorted(_around(plan) | above))


def _cannot_hide(path: str, why: str) -> CannotConfine:
    return CannotConfine(
        f"Landlock cannot hide {path} from this command: {why}; a person has to install the "
        "package `bubblewrap`, move it out of the folders of commands, or name no `driver` under "
        "`[sandbox]`, so that code may read what rules deny",
        for_caller=True,
    )


def _of_plan(plan: SandboxPlan) -> dict[str, int]:
    """Return the rights on the paths of a plan, also on what is hidden in them."""
    around = _around(plan)
    granted = dict.fromkeys((*plan.reads, *plan.writes, *around, *plan.kept), READ)
    for folder in plan.writes:
        if folder not in around:
            granted[folder] = WRITE
    for folder in sorted(around):
        granted |= dict.fromkeys((one for one in _inside(folder) if one not in granted), WRITE)
    return granted


def _around(plan: SandboxPlan) -> set[str]:
    """Return the folders that may be written and hold what may not."""
    return {*plan.immovable, *(folder for folder in plan.writes if _holds(folder, plan.kept))}


def _without(granted: Mapping[str, int], hidden: Collection[str]) -> dict[str, int]:
    """Return the same rights, but none on what is hidden."""
    found: dict[str, int] = {}
    for path, rights in granted.items():
        for one, its in _parts(path, rights, hidden):
            found[one] = found.get(one, 0) | its
    return found


def _parts(path: str, rights: int, hidden: Collection[str]) -> Iterator[tuple[str, int]]:
    """Yield what a right on a path is without what is hidden, as rights on parts of it."""
    inside = [each for each in hidden if is_within(each, (path,))]
    if not inside:
        if not is_within(path, hidden):
            yield path, rights
        return
    if path in inside:
        return
    if not any(map(os.path.isdir, inside)):
        yield path, READ_FOLDER
    for entry in _inside(path):
        yield from _parts(entry, rights, inside)


def _holds(folder: str, paths: tuple[str, ...]) -> bool:
    return any(path.startswith(f"{folder}/") for path in paths)


def _inside(folder: str) -> Iterator[str]:
    """Yield what is in a folder; a link is no file that could be granted."""
    try:
        with os.scandir(folder) as entries:
            yield from (entry.path for entry in entries if not entry.is_symlink())
    except OSError as error:
        raise CannotConfine(f"{folder} cannot be listed: {error.strerror}") from error

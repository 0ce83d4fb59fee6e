"""Limits of all processes of a program together: control groups (cgroup) of the system.

A limit of one process says nothing of a program that starts many, and the system does not limit how
many processes root has. A control group is a folder in which the system counts. Where nobody has
delegated such a folder, no group can be made.

Version 1 has a hierarchy of groups for each controller, version 2 one for all of them. In version 2
a group with processes has no groups with controllers below it, so a program's group stands beside
that of Placet, or further up.
"""

from __future__ import annotations

import os
import posixpath
import re
import secrets
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from policy.generation import ProcessLimits
from policy.sandbox.plan import CannotConfine

# Those of bubblewrap are in the group, too: one outside of the sandbox, and one inside.
_OWN_PROCESSES = 2
_NAMED = re.compile(r"placet-(\d+)-[0-9a-f]+")
# What a process is a member of, and what is mounted where; the tests have files of their own.
MEMBERSHIPS = Path("/proc/self/cgroup")
MOUNTS = Path("/proc/self/mountinfo")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """A folder in which groups can be made, and the version of its hierarchy."""

    folder: str
    version: int


@contextmanager
def groups_for(limits: ProcessLimits) -> Iterator[tuple[str, ...]]:
    """Make the groups for these limits, as far as they can be made, for a program to join.

    The program has to be started in the block, and its groups are removed by whoever ends it; if
    the block fails, they are removed here. Raises CannotConfine where `total_memory` is limited and
    there is no group for it: nothing else limits that.
    """
    wanted: dict[str, dict[str, int]] = {}
    for controller, values in _values(limits).items():
        place = _place_of(controller)
        if place is not None:
            wanted.setdefault(place.folder, {}).update(values[place.version])
        elif controller == "memory":
            raise CannotConfine("`total_memory` needs a control group, and none can be made here")
    with ExitStack() as made:
        yield tuple(_made(folder, values, made) for folder, values in wanted.items())
        made.pop_all()


def counts_processes() -> bool:
    """Return whether a control group can limit the number of a program's processes here."""
    return _place_of("pids") is not None


def weak_limit(limits: ProcessLimits) -> str | None:
    """Return how a limit holds less than it says on this machine; None if all hold."""
    if limits.processes is None or counts_processes():
        return None
    if os.geteuid() == 0:
        return "`processes` does not hold for root here, since no control group can be made"
    return "`processes` counts all of this user's, since no control group can be made here"


def _values(limits: ProcessLimits) -> Mapping[str, Mapping[int, Mapping[str, int]]]:
    """Return what is written to the files of a group, by controller and version."""
    found: dict[str, dict[int, dict[str, int]]] = {}
    if limits.processes is not None:
        most = {"pids.max": limits.processes + _OWN_PROCESSES}
        found["pids"] = {1: most, 2: most}
    if limits.total_memory is not None:
        size = limits.total_memory
        found["memory"] = {
            1: {"memory.limit_in_bytes": size, "memory.memsw.limit_in_bytes": size},
            2: {"memory.max": size, "memory.swap.max": 0},
        }
    return found


def _made(folder: str, values: Mapping[str, int], made: ExitStack) -> str:
    _remove_left_over(folder)
    group = os.path.join(folder, f"placet-{os.getpid()}-{secrets.token_hex(4)}")
    try:
        os.mkdir(group)
        made.callback(_remove, group)
        for name, value in values.items():
            path = os.path.join(group, name)
            # Swap is counted where the kernel was told to.
            if "sw" not in name or os.path.exists(path):
                with open(path, "w", encoding="ascii") as file:
                    file.write(str(value))
    except OSError as error:
        raise CannotConfine(f"no control group can be made in {folder}: {error}") from error
    return group


def _remove_left_over(folder: str) -> None:
    """Remove the empty groups of processes that are gone, which were killed before they could."""
    for name in os.listdir(folder):
        named = _NAMED.fullmatch(name)
        if named is not None and not os.path.exists(f"/proc/{named[1]}"):
            _remove(os.path.join(folder, name))


def _remove(group: str) -> None:
    with suppress(OSError):
        os.rmdir(group)


def _place_of(controller: str) -> _Place | None:
    """Return where groups with this controller can be made; None where they cannot be."""
    try:
        memberships = [line.split(":", 2) for line in MEMBERSHIPS.read_text().splitlines()]
        mounts = [line.split() for line in MOUNTS.read_text().splitlines()]
    except (OSError, ValueError):
        return None
    for _, names, path in memberships:
        if controller in names.split(","):
            own = _folder(mounts, path, kind="cgroup", controller=controller)
            return None if own is None or not _is_ours(own) else _Place(folder=own, version=1)
    for _, names, path in memberships:
        if not names:
            own = _folder(mounts, path, kind="cgroup2", controller=None)
            return None if own is None else _above(own, controller)
    return None


def _above(own: str, controller: str) -> _Place | None:
    """Return the nearest group, from this process's own upwards, that shares out a controller."""
    folder = own
    while os.path.exists(shared := os.path.join(folder, "cgroup.subtree_control")):
        # A process is moved by whoever may write to what holds both groups.
        movable = os.access(os.path.join(folder, "cgroup.procs"), os.W_OK)
        if controller in Path(shared).read_text().split() and movable and _is_ours(folder):
            return _Place(folder=folder, version=2)
        folder = os.path.dirname(folder)
    return None


def _folder(mounts: list[list[str]], path: str, *, kind: str, controller: str | None) -> str | None:
    """Return the folder of a group of this process, where its hierarchy is mounted."""
    for mount in mounts:
        at = mount.index("-")
        root, point = mount[3], mount[4]
        if mount[at + 1] != kind:
            continue
        if controller is not None and controller not in mount[at + 3].split(","):
            continue
        inside = posixpath.relpath(path, root)
        if not inside.startswith(".."):
            return posixpath.normpath(posixpath.join(point, inside))
    return None


def _is_ours(folder: str) -> bool:
    return os.access(folder, os.W_OK | os.X_OK)

"""What a load reads and what its configuration names in, what no tool may write out: the floor.

A file that a load would read, or fail at, counts whether it is there or not.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable

from policy.audit import RUNS
from policy.program import Floor
from policy.reload.folder import Snapshot
from policy.reload.settings import Settings
from policy.reload.walk import BESIDE_A_FILE, DATA_SUFFIXES, POLICY_SUFFIX, SETTINGS_FILE

# What SQLite writes beside a database: whoever can write there writes the database.
_BESIDE_A_STORE = ("", "-wal", "-shm", "-journal")


def floor_of(
    snapshot: Snapshot,
    settings: Settings,
    *,
    guarded: Iterable[str] = (),
    folders: Iterable[str] = (),
) -> Floor:
    """Return the floor of one load: `guarded` are files besides, and `folders` folders."""
    roots = tuple(dict.fromkeys((snapshot.root, snapshot.real_root)))
    files = {*guarded, *snapshot.links}
    for file in snapshot.files.values():
        files |= {file.lexical, file.real}
    if settings.service.audit is not None:
        files.add(settings.service.audit)
    if settings.approvals is not None and settings.approvals.store is not None:
        for store in _both_ways(settings.approvals.store, snapshot):
            files |= {store + ending for ending in _BESIDE_A_STORE}
    closed, data = {*folders, *snapshot.linked}, set[str]()
    if settings.service.audit is not None:
        closed.add(f"{settings.service.audit}{RUNS}")
    if snapshot.only is None:
        closed |= set(roots)
    else:
        closed |= {posixpath.join(root, name) for root in roots for name in BESIDE_A_FILE}
        # Data beside a single file is read where a configuration is there to name it.
        data = set(roots) if SETTINGS_FILE in snapshot.files else set()
    return Floor(
        files=tuple(sorted(files)),
        any_case=tuple(posixpath.join(root, SETTINGS_FILE) for root in roots),
        folders=tuple(sorted(closed)),
        data_folders=tuple(sorted(data)),
        policy_ending=POLICY_SUFFIX,
        data_endings=DATA_SUFFIXES,
    )


def _both_ways(path: str, snapshot: Snapshot) -> tuple[str, ...]:
    """Return a path as spelled, and by the real name of the policy folder where it lies there."""
    root = snapshot.root.rstrip("/") + "/"
    if not path.startswith(root):
        return (path,)
    return (path, posixpath.join(snapshot.real_root, path.removeprefix(root)))

"""The files that no tool may write: the policy itself, its records and its state.

A file that a load would read, or fail at, counts whether it is there or not.
"""

from __future__ import annotations

import os
import posixpath
from dataclasses import dataclass

from policy.audit import RUNS
from policy.catalog import LOCK_FILE
from policy.evaluation import Floor
from policy.generation.folder import Snapshot
from policy.generation.settings import Settings
from policy.generation.user_state import state_root
from policy.generation.walk import BESIDE_A_FILE, DATA_SUFFIXES, POLICY_SUFFIX, SETTINGS_FILE

# What SQLite writes beside a database: access to these is access to the database. The last one says
# that a history was created, so that one that is missing was deleted.
_BESIDE_A_STORE = ("", "-wal", "-shm", "-journal", "-created")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtectedFiles:
    """Files and folders besides those of the policy that no tool may write, by absolute paths.

    `settings` are settings of an agent that lie in the middle of its project.
    """

    files: frozenset[str] = frozenset()
    folders: frozenset[str] = frozenset()
    settings: frozenset[str] = frozenset()

    def __or__(self, other: ProtectedFiles) -> ProtectedFiles:
        return ProtectedFiles(
            files=self.files | other.files,
            folders=self.folders | other.folders,
            settings=self.settings | other.settings,
        )

    def is_in(self, floor: Floor) -> bool:
        """Return whether a floor protects all of this already."""
        return (
            self.files <= set(floor.files)
            and self.folders <= set(floor.folders)
            and self.settings <= set(floor.settings)
        )


def audit_protected(audit: str | os.PathLike[str]) -> ProtectedFiles:
    """Return the files of an audit file, by its name and where links lead."""
    names = _spelled_and_real(audit)
    return ProtectedFiles(files=names, folders=frozenset(name + RUNS for name in names))


def database_protected(store: str | os.PathLike[str]) -> ProtectedFiles:
    """Return the files of a database: a store of approvals, or the history of sessions."""
    names = _spelled_and_real(store)
    return ProtectedFiles(
        files=frozenset(name + ending for name in names for ending in _BESIDE_A_STORE)
    )


def state_protected() -> ProtectedFiles:
    """Return the state of all of this user's policies: answers, freezes."""
    return ProtectedFiles(folders=_spelled_and_real(state_root()))


def _spelled_and_real(path: str | os.PathLike[str]) -> frozenset[str]:
    spelled = os.path.abspath(os.fspath(path))
    return frozenset((spelled, os.path.realpath(spelled)))


def floor_of(snapshot: Snapshot, settings: Settings, *, guarded: ProtectedFiles) -> Floor:
    """Return the floor of one load."""
    roots = tuple(dict.fromkeys((snapshot.root, snapshot.real_root)))
    if settings.service.audit is not None:
        guarded |= audit_protected(settings.service.audit)
    if settings.approvals is not None and settings.approvals.store is not None:
        guarded |= database_protected(settings.approvals.store)
    if settings.history.file is not None:
        guarded |= database_protected(settings.history.file)
    python = settings.service.python
    if python.enabled and python.wheels is not None:
        # What is installed from there is kept for the calls of others.
        wheels = _spelled_and_real(os.path.expanduser(python.wheels))
        guarded |= ProtectedFiles(folders=wheels)
    files = {*guarded.files, *snapshot.links}
    for file in snapshot.files.values():
        files |= {file.lexical, file.real}
    closed, data = {*guarded.folders, *snapshot.linked}, set[str]()
    if snapshot.only is None:
        closed |= set(roots)
    else:
        closed |= {posixpath.join(root, name) for root in roots for name in BESIDE_A_FILE}
        # Data beside a single file is read only if there is a configuration to name it.
        data = set(roots) if SETTINGS_FILE in snapshot.files else set()
    return Floor(
        files=tuple(sorted(files)),
        any_case=tuple(
            posixpath.join(root, name) for root in roots for name in (SETTINGS_FILE, LOCK_FILE)
        ),
        folders=tuple(sorted(closed)),
        settings=tuple(sorted(guarded.settings)),
        data_folders=tuple(sorted(data)),
        policy_ending=POLICY_SUFFIX,
        data_endings=DATA_SUFFIXES,
    )

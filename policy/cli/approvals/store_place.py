"""A policy's path and settings in; the file that its questions wait in out."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from policy.reload import ApprovalSettings

_BESIDE = ("", "-wal", "-shm", "-journal")
_NAME = "approvals.sqlite"


def store_path(policy: str | os.PathLike[str], settings: ApprovalSettings | None) -> Path:
    """Return the store that the settings name, else one of this user's for this policy folder.

    The latter is known by the folder's real path, so that it is the same one however it is named.
    """
    if settings is not None and settings.store is not None:
        return Path(settings.store)
    place = os.path.realpath(policy)
    folder = os.path.dirname(place) if os.path.isfile(place) else place
    digest = hashlib.sha256(os.fsencode(folder)).hexdigest()[:32]
    return _state_folder() / "placet" / digest / _NAME


def watched_paths(store: Path) -> tuple[str, ...]:
    """Return what no tool may write: the store and what SQLite keeps beside it, links resolved."""
    spelled = os.path.abspath(store)
    both = dict.fromkeys((spelled, os.path.realpath(spelled)))
    return tuple(path + ending for path in both for ending in _BESIDE)


def _state_folder() -> Path:
    named = os.environ.get("XDG_STATE_HOME", "")
    # A relative one is to be ignored: it would mean another folder in every working directory.
    if os.path.isabs(named):
        return Path(named)
    return Path(os.path.expanduser("~"), ".local", "state")

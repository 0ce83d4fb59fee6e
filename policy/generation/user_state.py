"""The user's own folders in which approvals and freezes are kept, for a policy's path."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from policy.generation.walk import POLICY_SUFFIX


def state_folder(policy: str | os.PathLike[str]) -> Path:
    """Return the folder of a policy's state, outside of the policy itself.

    It is named by the policy folder's real path, so that it does not depend on links.
    """
    return state_root() / _digest(_folder(_real(policy)))


def state_folders(policy: str | os.PathLike[str]) -> tuple[Path, ...]:
    """Return the folders of state that outlives a policy's files: by its real path and its name.

    A new version is often deployed by changing a link: the name stays the same, and the real path
    does not.
    """
    places = (_real(policy), os.path.abspath(policy))
    return tuple(dict.fromkeys(state_root() / _digest(_folder(place)) for place in places))


def state_root() -> Path:
    """Return the folder that holds the state of every policy of this user."""
    named = os.environ.get("XDG_STATE_HOME", "")
    # A relative path is ignored: it would mean another folder in every working directory.
    if os.path.isabs(named):
        return Path(named) / "placet"
    return Path(os.path.expanduser("~"), ".local", "state", "placet")


def _folder(place: str) -> str:
    """Return the folder of a policy; a file is one by its name where it is not there for now."""
    is_file = os.path.isfile(place) or (place.endswith(POLICY_SUFFIX) and not os.path.isdir(place))
    return os.path.dirname(place) if is_file else place


def _digest(folder: str) -> str:
    return hashlib.sha256(os.fsencode(folder)).hexdigest()[:32]


def _real(path: str | os.PathLike[str]) -> str:
    """Return the real path, and a path that cannot exist (with a NUL in it) as it is."""
    try:
        return os.path.realpath(path)
    except ValueError:
        return os.fspath(path)

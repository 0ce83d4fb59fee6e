"""A policy's path in, the folder of this user's own out in which Placet keeps what people said."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path


def state_folder(policy: str | os.PathLike[str]) -> Path:
    """Return the folder of a policy's state, outside of the policy itself.

    It is known by the policy folder's real path, so that it is the same however that is named.
    """
    place = os.path.realpath(policy)
    folder = os.path.dirname(place) if os.path.isfile(place) else place
    digest = hashlib.sha256(os.fsencode(folder)).hexdigest()[:32]
    return _of_this_user() / "placet" / digest


def _of_this_user() -> Path:
    named = os.environ.get("XDG_STATE_HOME", "")
    # A relative one is to be ignored: it would mean another folder in every working directory.
    if os.path.isabs(named):
        return Path(named)
    return Path(os.path.expanduser("~"), ".local", "state")

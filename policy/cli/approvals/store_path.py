"""Where the store of a policy's approvals is."""

from __future__ import annotations

import os
from pathlib import Path

from policy.generation import ApprovalSettings, state_folder

_NAME = "approvals.sqlite"


def store_path(policy: str | os.PathLike[str], settings: ApprovalSettings | None) -> Path:
    """Return the store that the settings name, else one in the user's state for this policy."""
    if settings is not None and settings.store is not None:
        return Path(settings.store)
    return state_folder(policy) / _NAME

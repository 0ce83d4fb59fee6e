"""Where the approval requests of a policy are kept."""

from __future__ import annotations

import os
from pathlib import Path

from policy.generation.settings import ApprovalSettings
from policy.generation.user_state import state_folder

_NAME = "approvals.sqlite"


def approvals_path(policy: str | os.PathLike[str], settings: ApprovalSettings | None) -> Path:
    """Return the store that the settings name, else one in the user's state for this policy."""
    if settings is not None and settings.store is not None:
        return Path(settings.store)
    return state_folder(policy) / _NAME

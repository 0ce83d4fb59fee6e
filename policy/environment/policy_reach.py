"""Whether a policy and the folder in which tools work contain one another."""

from __future__ import annotations

import os

from policy.diagnostics import visible

_LONGEST = 1000


def policy_in_reach(
    policy: str | os.PathLike[str], folder: str, *, called: str = "the workspace"
) -> str | None:
    """Return how a policy and a folder contain one another, None if they are apart.

    `folder` is without links; `called` says what it is.
    """
    place = os.path.realpath(policy)
    shared = os.path.commonpath((place, folder))
    if shared == folder:
        how = "is in"
    elif shared == place and os.path.isdir(place):
        how = "contains"
    else:
        return None
    return f"the policy {visible(place, _LONGEST)} {how} {called} {visible(folder, _LONGEST)}"

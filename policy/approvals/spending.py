"""A standing approval and a moment in, whether it still serves out. Pure."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from policy.approvals.grant import Grant
from policy.approvals.transitions import is_past


def serves(grant: Grant, now: datetime) -> bool:
    """Tell whether a standing approval serves one execution more."""
    return not is_past(grant.expires, now) and (grant.uses is None or grant.uses > 0)


def spent(grant: Grant) -> Grant:
    """Return the standing approval with one use less."""
    return grant if grant.uses is None else replace(grant, uses=grant.uses - 1)

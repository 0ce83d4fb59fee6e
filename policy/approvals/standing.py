"""Which standing approval answers which opinion that asks. No I/O.

A standing approval serves only the caller it was given to. It never answers an opinion whose
condition was indeterminate, since nobody could have foreseen that, nor one that the people who gave
it are not entitled to answer when it is used.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import assert_never

from policy.approvals.binding import AskedCall, AskKey, ask_key, remembered_key
from policy.approvals.elevation import matches_tool
from policy.approvals.entitlement import GroupsOf, as_of_now, unanswered
from policy.approvals.grant import Grant
from policy.model import Reason
from policy.runtime import is_past

# A definition nobody reviewed is approved call by call, or not at all.
_NEVER_IN_ADVANCE = frozenset({"pin", "floor"})


def serving_grants(
    asked: AskedCall,
    reasons: Iterable[Reason],
    grants: tuple[Grant, ...],
    *,
    now: datetime,
    groups_of: GroupsOf,
) -> Mapping[AskKey, Grant]:
    """Return the grant that answers each opinion, preferring the oldest; others are left out."""
    # A grant from the future was written by another clock, or is forged.
    usable = tuple(
        grant
        for grant in grants
        if grant.caller == asked.asker and is_past(grant.given_at, now) and grant.serves(now)
    )
    found: dict[AskKey, Grant] = {}
    for reason in reasons if usable else ():
        grant = _answering(asked, reason, usable, groups_of=groups_of)
        if grant is not None:
            found[ask_key(reason)] = grant
    return found


def _answering(
    asked: AskedCall, reason: Reason, grants: tuple[Grant, ...], *, groups_of: GroupsOf
) -> Grant | None:
    if reason.undecided is not None:
        return None
    key = remembered_key(reason, asked)
    for grant in grants:
        if _serves(grant, asked, reason, key=key) and not unanswered(
            (reason,), as_of_now(grant.people, groups_of), asked.caller
        ):
            return grant
    return None


def _serves(grant: Grant, asked: AskedCall, reason: Reason, *, key: str | None) -> bool:
    match grant.kind:
        case "remembered":
            return key is not None and grant.key == key
        case "elevation":
            return reason.rule not in _NEVER_IN_ADVANCE and matches_tool(grant.tools, asked.spec)
        case kind:
            assert_never(kind)

"""Whether one approval asks for at least as much as another: of whom, of how many, for how long."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from policy.model import Reason, Remembering, Terms, Verdict
from policy.verify.difference.changes import Direction


def asked_terms(reasons: Iterable[Reason]) -> frozenset[Terms]:
    """Return what the reasons that ask require, whichever rules they are."""
    return frozenset(
        replace(reason.terms or Terms(), digest=None)
        for reason in reasons
        if reason.verdict is Verdict.ASK
    )


def change_of_terms(before: frozenset[Terms], after: frozenset[Terms]) -> Direction:
    """Return how what must be approved changed: every one of the terms has to be met."""
    lost = any(not any(includes(kept, one) for kept in after) for one in before)
    won = any(not any(includes(had, one) for had in before) for one in after)
    if lost:
        return "unclear" if won else "looser"
    return "tighter" if won else "none"


def includes(one: Terms, other: Terms) -> bool:
    """Return whether an approval by `one` is always enough for `other`, and counts no longer."""
    return _people_include(one, other) and _is_kept_no_longer(one.remember, other.remember)


def _people_include(one: Terms, other: Terms) -> bool:
    if other.plain:
        return True
    groups, wanted = set(one.groups), set(other.groups)
    if other.two_people:
        # One of each group, or two of the only one.
        enough = wanted <= groups if len(wanted) > 1 else groups == wanted or not wanted
        return one.two_people and enough
    if one.two_people and len(groups) > 1:
        return bool(groups & wanted)
    return bool(groups) and groups <= wanted


def _is_kept_no_longer(one: Remembering | None, other: Remembering | None) -> bool:
    if one is None or one == other:
        return True
    if other is None:
        return False
    is_shorter = one.seconds == other.seconds or (
        one.seconds is not None and other.seconds is not None and one.seconds <= other.seconds
    )
    is_rarer = other.times is None or (one.times is not None and one.times <= other.times)
    # Without fields, the whole call must be equal.
    is_narrower = not one.fields or (bool(other.fields) and set(one.fields) >= set(other.fields))
    return is_shorter and is_rarer and is_narrower

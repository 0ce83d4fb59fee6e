"""Which limits of two policies count the same, and whether an edit of one lets calls do more.

Two limits count the same if their budgets have the same scope and amount, and the same conditions
or the one lacks some: then it counts more calls. The one is as strict as the other if it allows no
more, in a window that is not shorter, of all its tools, and counts all that the other one counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from policy.catalog import ToolPattern, ToolSelector
from policy.checks import checked
from policy.program import meaning_digest

_ANY = ToolPattern(text="*")
# Of several new limits the one that is closest to the old one: as strict, else stricter.
_ORDER = ("none", "tighter", "looser", "unclear")


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitChange:
    """A limit that one policy has, or that `limit` replaces; `verb` says in words what it is."""

    limit: checked.CheckedLimit
    direction: Literal["looser", "tighter", "unclear"]
    verb: str


def limit_changes(
    removed: Sequence[checked.CheckedLimit], added: Sequence[checked.CheckedLimit]
) -> Iterator[LimitChange]:
    """Yield what became of the limits that only the old policy has, then the new ones."""
    replacing: set[int] = set()
    for old in removed:
        same = [one for one in added if _count_alike(one, old)]
        if not same:
            yield LimitChange(limit=old, direction="looser", verb="removed")
            continue
        new = min(same, key=lambda one: _ORDER.index(_direction(old, one)))
        replacing.add(id(new))
        direction = _direction(old, new)
        if direction != "none":
            yield LimitChange(limit=new, direction=direction, verb=_verb(old, new))
    for one in added:
        if id(one) not in replacing:
            yield LimitChange(limit=one, direction="tighter", verb="added")


def _what_counts(limit: checked.CheckedLimit) -> str:
    """Return what tells budgets apart: not the name, the number, the window or the tools."""
    return meaning_digest(limit.amount, limit.scope, limit.steps)


def _count_alike(one: checked.CheckedLimit, other: checked.CheckedLimit) -> bool:
    is_same = _what_counts(one) == _what_counts(other)
    return is_same and (_counts_as_much(one, other) or _counts_as_much(other, one))


def _counts_as_much(one: checked.CheckedLimit, other: checked.CheckedLimit) -> bool:
    """Return whether one limit certainly counts every call that the other one counts."""
    pairs = (one.when, other.when), (one.unless, other.unless)
    return all(
        mine is None or meaning_digest(mine) == meaning_digest(theirs) for mine, theirs in pairs
    )


def _direction(
    old: checked.CheckedLimit, new: checked.CheckedLimit
) -> Literal["none", "looser", "tighter", "unclear"]:
    match (_is_as_strict(new, old), _is_as_strict(old, new)):
        case (True, True):
            return "none"
        case (True, False):
            return "tighter"
        case (False, True):
            return "looser"
        case _:
            return "unclear"


def _is_as_strict(one: checked.CheckedLimit, other: checked.CheckedLimit) -> bool:
    return (
        one.capacity <= other.capacity
        and (one.window or timedelta.max) >= (other.window or timedelta.max)
        and covers(one.tools, other.tools)
        and _counts_as_much(one, other)
    )


def covers(wide: ToolSelector, narrow: ToolSelector) -> bool:
    """Return whether one selector certainly matches every tool that the other one matches."""
    included = _parts(wide)
    return (_ANY in included or _parts(narrow) <= included) and _excluded(wide) <= _excluded(narrow)


def _parts(selector: ToolSelector) -> frozenset[ToolPattern | ToolSelector]:
    """Return what a selector includes, with the parts of named sets in their place."""
    found: set[ToolPattern | ToolSelector] = set()
    for part in selector.included:
        if isinstance(part, ToolSelector) and not part.excluded:
            found |= _parts(part)
        else:
            found.add(part)
    return frozenset(found)


def _excluded(selector: ToolSelector) -> frozenset[ToolPattern | ToolSelector]:
    return frozenset(selector.excluded)


def _verb(old: checked.CheckedLimit, new: checked.CheckedLimit) -> str:
    if (old.window, old.tools) == (new.window, new.tools):
        return f"from {old.capacity} to {new.capacity}"
    return f"changed from {old.text}"

"""What stood at a key before and what stands there after, in; whether that lets more through, out.

Only the tables of permissions are judged, and an edit counts as looser where that cannot be ruled
out: a `deny` or `ask` that goes may have stood before an `allow` somewhere else.
"""

from __future__ import annotations

from typing import Any

from policy.reload.places import Path
from policy.verdict import Verdict

_RANKS = {"allow": 0, "ask": 1, "deny": 2}


def is_looser(path: Path, before: Any, after: Any, *, default: Verdict | None) -> bool | None:
    """Tell whether an edit may let through what was stopped; None for a key of no such table.

    `default` is the plain default of the layer the key belongs to, None where it has none. None
    stands for a key that is not there.
    """
    table = _table(path)
    if table == "filter":
        return _filter_is_looser(path[-1], before, after)
    if table == "default":
        alone = None if path[1] == "agents" else Verdict.DENY
        return _rank(after, alone) < _rank(before, alone)
    if table == "rule":
        return _rule_is_looser(before, after, default)
    if len(path) == 3 and path[0] == "tools" and path[2] == "requires_confirmation":
        return before is True and after is not True
    return None


def _table(path: Path) -> str:
    """Return what kind of table a key stands in; "" for any other."""
    where = path
    if len(path) == 5 and path[:2] == ("permissions", "agents"):
        where = ("permissions", *path[3:])
    if len(where) == 4 and where[:3] == ("policies", "tool_permissions", "overrides"):
        return "rule"
    if len(where) != 3:
        return ""
    if where[:2] == ("permissions", "filter"):
        return "filter"
    if where == ("policies", "tool_permissions", "default"):
        return "default"
    if where[:2] == ("permissions", "tools"):
        return "default" if where[2] == "default" else "rule"
    return ""


def _rank(verdict: Any, otherwise: Verdict | None) -> int:
    """Return how strict an entry is; what is no verdict loads nothing, and so denies everything."""
    if verdict is None:
        return 0 if otherwise is None else _RANKS[otherwise.value]
    return _RANKS.get(verdict, 2) if isinstance(verdict, str) else 2


def _rule_is_looser(before: Any, after: Any, default: Verdict | None) -> bool:
    if after is None:
        return _rank(before, default) > _RANKS["allow"]
    # A rule that was not there gives where the default does not.
    return _rank(after, default) < _rank(before, default)


def _filter_is_looser(key: str, before: Any, after: Any) -> bool:
    old, new = _names(before), _names(after)
    if key == "allowed":
        return bool(new - old) or after is None
    # What must be confirmed is also given, once it is.
    return bool(old - new) or (key == "require_confirmation" and bool(new - old))


def _names(value: Any) -> frozenset[str]:
    return frozenset(map(str, value)) if isinstance(value, list) else frozenset()

"""Whether a change of the configuration allows more than before.

Only the tables of permissions are judged, and an edit counts as more permissive unless that is
ruled out: a `deny` or `ask` that is removed may have overruled an `allow` somewhere else.
"""

from __future__ import annotations

from typing import Any

from policy.generation import Path
from policy.model import Verdict

_RANKS = {"allow": 0, "ask": 1, "deny": 2}


def is_more_permissive(
    path: Path, before: Any, after: Any, *, default: Verdict | None
) -> bool | None:
    """Return whether an edit may allow more calls; None for a key outside of these tables.

    `default` is the strictest verdict that may apply in the key's layer to a tool that no rule
    names, None if nothing restricts it. `before` and `after` are None for a key that is not set.
    """
    table = _table(path)
    if table == "filter":
        return _filter_allows_more(path[-1], before, after)
    if table == "default":
        fallback = None if path[1] == "agents" else Verdict.DENY
        return _rank(after, fallback) < _rank(before, fallback)
    if table == "rule":
        return _rule_allows_more(before, after, default)
    if path[0] == "tools":
        return _confirmation_allows_more(path, before, after)
    return None


def _table(path: Path) -> str:
    """Return the type of permission table that a key is in; "" for any other key."""
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
    """Return how strict an entry is; an invalid verdict does not load, and so denies everything."""
    if verdict is None:
        return 0 if otherwise is None else _RANKS.get(otherwise.value, 0)
    return _RANKS.get(verdict, 2) if isinstance(verdict, str) else 2


def _rule_allows_more(before: Any, after: Any, default: Verdict | None) -> bool:
    if after is None:
        return _rank(before, default) > _RANKS["allow"]
    # A new rule allows more if it is less strict than the default.
    return _rank(after, default) < _rank(before, default)


def _filter_allows_more(key: str, before: Any, after: Any) -> bool:
    old, new = _names(before), _names(after)
    if key == "allowed":
        return bool(new - old) or after is None
    # A tool that must be confirmed is allowed once it is.
    return bool(old - new) or (key == "require_confirmation" and bool(new - old))


def _confirmation_allows_more(path: Path, before: Any, after: Any) -> bool | None:
    """Return whether a tool need no longer be confirmed, also if its whole table is removed."""
    lost = bool(_confirmed(path, before) - _confirmed(path, after))
    return lost if lost or path[2:] == ("requires_confirmation",) else None


def _confirmed(path: Path, value: Any) -> frozenset[str]:
    """Return the tools that must be confirmed, by the value at a path below `tools`."""
    if len(path) > 3 or path[2:3] not in ((), ("requires_confirmation",)):
        return frozenset()
    if len(path) == 3:
        return frozenset(path[1:2]) if value is True else frozenset()
    tables = value if len(path) == 1 else {path[1]: value}
    if not isinstance(tables, dict):
        return frozenset()
    return frozenset(
        name
        for name, table in tables.items()
        if isinstance(table, dict) and table.get("requires_confirmation") is True
    )


def _names(value: Any) -> frozenset[str]:
    return frozenset(map(str, value)) if isinstance(value, list) else frozenset()

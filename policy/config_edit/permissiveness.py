"""Whether a change of the configuration allows more than before.

Only the tables of permissions are judged, and an edit counts as looser where that cannot be ruled
out: a `deny` or `ask` that goes may have stood before an `allow` somewhere else.
"""

from __future__ import annotations

from typing import Any

from policy.generation import Path
from policy.model import Verdict

_RANKS = {"allow": 0, "ask": 1, "deny": 2}


def is_more_permissive(
    path: Path, before: Any, after: Any, *, default: Verdict | None
) -> bool | None:
    """Tell whether an edit may let through what was stopped; None for a key of no such table.

    `default` is the strictest that a tool may meet in the key's layer where no rule speaks of it,
    None where nothing takes there. None stands for a key that is not there.
    """
    table = _table(path)
    if table == "filter":
        return _filter_is_looser(path[-1], before, after)
    if table == "default":
        alone = None if path[1] == "agents" else Verdict.DENY
        return _rank(after, alone) < _rank(before, alone)
    if table == "rule":
        return _rule_is_looser(before, after, default)
    if path[0] == "tools":
        return _confirmation_is_looser(path, before, after)
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
        return 0 if otherwise is None else _RANKS.get(otherwise.value, 0)
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


def _confirmation_is_looser(path: Path, before: Any, after: Any) -> bool | None:
    """Tell whether a tool need no longer be confirmed, also where its table goes as a whole."""
    lost = bool(_confirmed(path, before) - _confirmed(path, after))
    return lost if lost or path[2:] == ("requires_confirmation",) else None


def _confirmed(path: Path, value: Any) -> frozenset[str]:
    """Return the tools that are to be confirmed by what stands at a path below `tools`."""
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

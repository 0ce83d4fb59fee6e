"""What two configurations state differently besides rules, and whether calls may do more then."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from typing import Any

from policy.generation.plugin_settings import PluginSettings
from policy.verify import Change, Direction

PROOF_MODES = ("off", "warn", "require")  # the strictest last
_LOOSENING = ("allow", "warn", "refuse")
# Settings that affect no verdict and nobody who approves, or do so as rules and definitions of
# tools, which are compared as such.
_HARMLESS = frozenset({"binders", "catalogue", "context", "tables", "timeout", "timeouts", "tools"})
# How their tables are called in `placet.toml`, where the name is another one.
_TABLES = {"caller": "serve", "clients": "serve", "mcp_servers": "mcp", "mcp_files": "mcp"}


def settings_changes(before: Any, after: Any) -> Iterator[Change]:
    """Yield each table of settings that differs between two configurations of policies."""
    shown: set[str] = set()
    for part in fields(after):
        old, new = getattr(before, part.name), getattr(after, part.name)
        table = _TABLES.get(part.name, part.name)
        if old == new or part.name in _HARMLESS or table in shown:
            continue
        shown.add(table)
        yield Change(
            kind="setting",
            direction=_direction(part.name, old, new),
            what=f"changed: `[{table}]` in placet.toml",
        )


def _direction(name: str, old: Any, new: Any) -> Direction:
    match name:
        case "plugins":
            return _of_plugins(old, new)
        case "pins":
            return "looser" if new.new < old.new else "tighter"
        case "reload":
            weaker = PROOF_MODES.index(new.proofs) < PROOF_MODES.index(old.proofs)
            gate = _LOOSENING.index(new.loosening) < _LOOSENING.index(old.loosening)
            return "looser" if weaker or gate else "none"
        case "history":
            return _of_history(old, new)
        case _:
            return "unclear"


def _of_history(old: Any, new: Any) -> Direction:
    """Return a direction for where earlier calls are, and who may clear them.

    How much is kept makes no call do more: what is gone makes conditions indeterminate.
    """
    if (old.store, old.password) != (new.store, new.password):
        return "unclear"
    if old.clear == new.clear:
        return "none"
    return _of_sets(frozenset(old.clear), frozenset(new.clear))


def _of_sets(old: frozenset[Any], new: frozenset[Any]) -> Direction:
    if new <= old:
        return "tighter"
    return "looser" if old <= new else "unclear"


def _of_plugins(old: Mapping[str, PluginSettings], new: Mapping[str, PluginSettings]) -> Direction:
    """Return a direction for grants alone: other code, or code that touches more, is unclear."""
    if _ungranted(old) != _ungranted(new):
        return "unclear"
    return _of_sets(_grants(old), _grants(new))


def _ungranted(plugins: Mapping[str, PluginSettings]) -> dict[str, PluginSettings]:
    return {name: replace(one, grant=()) for name, one in plugins.items() if one.path is not None}


def _grants(plugins: Mapping[str, PluginSettings]) -> frozenset[tuple[str, str]]:
    return frozenset((name, each) for name, one in plugins.items() for each in one.grant)

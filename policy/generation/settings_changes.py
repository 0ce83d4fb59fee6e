"""What two configurations state differently besides rules, and whether calls may do more then.

Each setting has a rule in a table that says in which direction it is tighter. A change of any other
setting is unclear.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from fnmatch import fnmatchcase
from typing import Any, TypeAlias

from policy.generation.client_settings import ClientSettings, KnownClient
from policy.generation.plugin_settings import PluginSettings
from policy.generation.rules_on_settings import (
    groups_only_grant,
    relies_on_sandbox,
    tells_agents_apart,
)
from policy.generation.sandbox_settings import Reach
from policy.generation.settings import Settings
from policy.model import Caller, Verdict
from policy.program import Program
from policy.verify import Change, Direction

PROOF_MODES = ("off", "warn", "require")  # the strictest last
# Settings that affect no verdict and nobody who approves, or do so as rules and definitions of
# tools, which are compared as such.
_HARMLESS = frozenset({"binders", "catalogue", "context", "tables", "timeout", "timeouts", "tools"})
# How their tables are called in `placet.toml`, where the name is another one.
_TABLES = {"caller": "serve", "clients": "serve", "mcp_servers": "mcp", "mcp_files": "mcp"}

_Compare: TypeAlias = Callable[[Any, Any], Direction]


def settings_changes(before: Settings, after: Settings, program: Program) -> Iterator[Change]:
    """Yield each table of settings that differs between two configurations of policies.

    `program` are the rules beside the later one.
    """
    found: dict[str, list[Direction]] = {}
    for part in fields(after):
        old, new = getattr(before, part.name), getattr(after, part.name)
        if old != new and part.name not in _HARMLESS:
            directions = found.setdefault(_TABLES.get(part.name, part.name), [])
            directions += _directions(part.name, old, new)
            directions += _by_rules(part.name, old, new, program)
    for table, directions in found.items():
        yield Change(
            kind="setting",
            direction=_all_of(directions),
            what=f"changed: `[{table}]` in placet.toml",
        )


def _directions(name: str, old: Any, new: Any) -> Iterator[Direction]:
    """Yield what the changes of a setting do, or of all settings in a table."""
    if old == new or (name == "caller" and (old or Caller()) == (new or Caller())):
        return
    compare = next((known for key, known in _SETTINGS.items() if fnmatchcase(name, key)), None)
    if compare is not None:
        yield compare(old, new)
    elif is_dataclass(new) and type(old) is type(new):
        for part in fields(new):
            yield from _directions(
                f"{name}.{part.name}", getattr(old, part.name), getattr(new, part.name)
            )
    else:
        yield "unclear"


def _all_of(directions: list[Direction]) -> Direction:
    for one in ("looser", "unclear", "tighter"):
        if one in directions:
            return one
    return "none"


def _by_rules(name: str, old: Any, new: Any, program: Program) -> Iterator[Direction]:
    """Yield what a change may do because of rules that read the setting, or rely on it."""
    if name == "clients" and _other_groups(old, new) and not groups_only_grant(program):
        yield "unclear"
    if name == "caller" and None in (old, new) and tells_agents_apart(program):
        # Without a table, a hook calls as the agent that it is installed for.
        yield "unclear"
    if name == "sandbox" and relies_on_sandbox(program, new.enforces - old.enforces):
        yield "unclear"


# ------------------------------------------------------------------ directions


def _less(old: Any, new: Any) -> Direction:
    """Compare limits; None: there is none."""
    if old is None or new is None:
        return "tighter" if old is None else "looser"
    return "tighter" if new < old else "looser"


def _in_order(*values: Any) -> _Compare:
    """Return how values compare that are listed from the loosest to the tightest."""
    return lambda old, new: "tighter" if values.index(old) < values.index(new) else "looser"


def _gate(old: str, new: str) -> Direction:
    return "looser" if _in_order("allow", "warn", "refuse")(old, new) == "looser" else "none"


def _proofs(old: str, new: str) -> Direction:
    return "looser" if _in_order(*PROOF_MODES)(old, new) == "looser" else "none"


def _unclear(_old: Any, _new: Any) -> Direction:
    return "unclear"


def _no_matter(_old: Any, _new: Any) -> Direction:
    return "none"


def _demanded(_old: Any, new: Any) -> Direction:
    return "tighter" if new else "looser"


def _whether_any(old: Any, new: Any) -> Direction:
    return "tighter" if new is None else "looser" if old is None else "unclear"


def _fewer(old: Any, new: Any) -> Direction:
    return _of_sets(frozenset(old), frozenset(new))


def _asked_in(old: str, new: str) -> Direction:
    """Compare where questions are asked: in fewer places, fewer people answer."""
    return "tighter" if old == "both" else "looser" if new == "both" else "unclear"


def _of_groups(old: Mapping[str, tuple[str, ...]], new: Mapping[str, tuple[str, ...]]) -> Direction:
    """Compare who is in which group: with fewer people, fewer may approve."""
    before, after = (
        frozenset((group, person) for group, people in groups.items() for person in people)
        for groups in (old, new)
    )
    return "none" if before == after else _of_sets(before, after)


def _of_clients(old: tuple[KnownClient, ...], new: tuple[KnownClient, ...]) -> Direction:
    """Compare who may call: fewer clients, each as before, but for groups that it has no more."""
    before, after = ({one.name: one for one in clients} for clients in (old, new))
    shared = before.keys() & after.keys()
    if any(_but_for_groups(before[name]) != _but_for_groups(after[name]) for name in shared):
        return "unclear"
    return _of_sets(_membership(old), _membership(new))


def _but_for_groups(client: KnownClient) -> KnownClient:
    return replace(client, caller=replace(client.caller, groups=()))


def _membership(clients: tuple[KnownClient, ...]) -> frozenset[tuple[str, str | None]]:
    return frozenset((one.name, group) for one in clients for group in (None, *one.caller.groups))


def _other_groups(old: ClientSettings, new: ClientSettings) -> bool:
    """Return whether a client that stays is in other groups."""
    before = {one.name: one.caller.groups for one in old.clients}
    return any(before.get(one.name, one.caller.groups) != one.caller.groups for one in new.clients)


def _of_reach(old: Reach, new: Reach) -> Direction:
    """Compare what programs may touch: what they may write they may read, too."""
    old, new = (replace(one, reads=(*one.reads, *one.writes)) for one in (old, new))
    if old.network == "all":  # every host that the other one names
        old = replace(old, connects=(*old.connects, *new.connects))
    if new.network == "all":
        new = replace(new, connects=(*new.connects, *old.connects))
    return _all_of(list(_directions("reach", old, new)))


def _of_sets(old: frozenset[Any], new: frozenset[Any]) -> Direction:
    if new == old:
        return "none"
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


# By the names of their records' fields; the first row that matches counts. How much `history` keeps
# makes no call do more: what is gone makes conditions indeterminate.
_SETTINGS: Mapping[str, _Compare] = {
    "plugins": _of_plugins,
    "pins.new": _in_order(Verdict.ASK, Verdict.DENY),
    "reload.proofs": _proofs,
    "reload.loosening": _gate,
    "reload.steps": _no_matter,
    "history.clear": _fewer,
    "history.store": _unclear,
    "history.password": _unclear,
    "history.*": _no_matter,
    "approvals.timeout": _less,
    "approvals.per_session": _less,
    "approvals.ask": _asked_in,
    "approvals.groups": _of_groups,
    "clients.clients": _of_clients,
    "clients.jwt": _whether_any,
    "clients.message_bytes": _less,
    "service.bash.timeout": _less,
    "service.bash.output": _less,
    "service.web.*": _less,
    "service.python.size": _less,
    "sandbox.required": _demanded,
    "sandbox.reach": _of_reach,
    "reach.reads": _fewer,
    "reach.writes": _fewer,
    "reach.connects": _fewer,
    "reach.network": _in_order("all", "hosts", "none"),
    "reach.limits.*": _less,
}

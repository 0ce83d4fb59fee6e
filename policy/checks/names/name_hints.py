"""Help for a name or a fact that does not exist: what its author may have meant."""

from __future__ import annotations

from policy.catalog import Catalog
from policy.checks.conditions.fields import ToolFields, has_field
from policy.checks.conditions.value_types import FACTS

_NULL = frozenset({"null", "Null", "NULL", "None", "nil", "undefined"})
_BOOLEANS = {"True": "true", "TRUE": "true", "yes": "true", "False": "false", "FALSE": "false"}
# What is written by a clause or a resource test, and not as a value.
_CLAUSES = {
    "approval": "write `with approval`",
    "approved": "write `with approval by …`",
    "domain": "write `connects only to …`, or in a `deny` `connects to …`",
    "host": "write `connects only to …`, or in a `deny` `connects to …`",
    "hostname": "write `connects only to …`, or in a `deny` `connects to …`",
}
# Facts under the names that other systems have for them.
_ELSEWHERE = {
    "agent.id": "agent.name",
    "agent.role": "agent.roles",
    "agent.type": "agent.name",
    "agent.user": "user.id",
    "call.name": "tool.name",
    "call.tool": "tool.name",
    "caller": "agent.name",
    "date": "now",
    "group": "user.groups",
    "hour": "now",
    "principal": "user.id",
    "session.agent": "agent.name",
    "session.user": "user.id",
    "time": "now",
    "today": "now",
    "tool.id": "tool.name",
    "user.email": "user.id",
    "user.group": "user.groups",
    "user.name": "user.id",
    "user.role": "session.role",
    "user.roles": "agent.roles",
    "username": "user.id",
}


def hint_for_name(name: str, tools: ToolFields | None, catalog: Catalog) -> str:
    """Return help about a name without a definition, "" if nothing else has this name."""
    if name in _NULL:
        return "write `is absent` or `is present` to test whether there is a value"
    if name in _BOOLEANS:
        return f"write `{_BOOLEANS[name]}`"
    if tools is not None and has_field(tools, name):
        return f"did you mean `input.{name}`?"
    if name in _CLAUSES:
        return _CLAUSES[name]
    if catalog.get(name) is not None:
        return "the fields of a call are `input.…`, whatever the tool"
    return hint_for_fact(name)


def hint_for_fact(name: str) -> str:
    """Return help about a fact that does not exist, "" if no other one resembles it."""
    leaf = name.rpartition(".")[2]
    if name in _ELSEWHERE:
        return f"did you mean `{_ELSEWHERE[name]}`?"
    same = [".".join(path) for path in FACTS if len(path) == 2 and path[1] == leaf]
    if len(same) == 1:
        return f"did you mean `{same[0]}`?"
    return ""

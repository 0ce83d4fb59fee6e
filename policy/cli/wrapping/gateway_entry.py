"""The one server that a wrapped client has: the gateway."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from typing import Any

from policy.cli.wrapping.client_file import ClientFile
from policy.cli.wrapping.moved_server import MovedServer
from policy.daemon import own_command

NAME = "placet"
_COMMAND = "gateway"
_REFERENCE = re.compile(r"\$\{(?:env:)?([A-Za-z_]\w*)\}")


def gateway_of(file: ClientFile) -> str | None:
    """Return the name of the server that is a gateway, None if there is none."""
    return next((name for name, entry in file.servers.items() if policy_of(entry)), None)


def policy_of(entry: Any) -> str | None:
    """Return the policy of a gateway as its command names it; None if this is no gateway."""
    if not isinstance(entry, dict):
        return None
    words = [entry.get("command"), *(entry.get("args") or [])]
    if _COMMAND not in words or not all(isinstance(word, str) for word in words):
        return None
    place = words.index(_COMMAND)
    started = [os.path.basename(word) for word in words[:place]]
    if started[-1:] not in (["placet"], ["placet.exe"]) and started[-2:] != ["-m", "policy"]:
        return None
    path = words[place + 1 : place + 2]
    return path[0] if path and not path[0].startswith("-") else "rules"


def gateway_entry(
    kind: str, policy: str, servers: Iterable[MovedServer], *, before: Mapping[str, Any] | None
) -> Mapping[str, Any]:
    """Return the entry of the gateway, with what these servers need of the client.

    An entry that was there `before` is kept but for the variables that it gets.
    """
    variables: dict[str, str] = {}
    inherited: list[str] = []
    for server in servers:
        variables |= server.variables
        inherited += (name for name in server.inherited if name not in inherited)
    if before is None:
        # The client chooses the folder that is the workspace, often a project or the home folder.
        command, *arguments = [*own_command(), _COMMAND, policy, "--policy-in-workspace"]
        entry: dict[str, Any] = {"type": "stdio"} if kind == "vscode" else {}
        entry |= {"command": command, "args": arguments}
    else:
        entry = dict(before)
    if inherited:
        entry["env_vars"] = list(dict.fromkeys((*entry.get("env_vars", ()), *inherited)))
    if variables:
        entry["env"] = {**entry.get("env", {}), **variables}
    return entry


def variables_of(file: ClientFile) -> Mapping[str, str] | None:
    """Return the variables that a client gives its gateway, None if it has no gateway.

    A variable that refers to another one has the value of that here, and is left out if there is
    none: what else clients fill in is known to them alone.
    """
    ours = gateway_of(file)
    if ours is None:
        return None
    given = file.servers[ours].get("env") or {}
    found = {name: _filled_in(value) for name, value in given.items() if isinstance(value, str)}
    return {name: value for name, value in found.items() if value is not None}


def _filled_in(value: str) -> str | None:
    reference = _REFERENCE.fullmatch(value)
    return os.environ.get(reference[1]) if reference else None if "${" in value else value

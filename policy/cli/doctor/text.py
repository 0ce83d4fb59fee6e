"""What `placet doctor` found, as text for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policy.cli.loading import counted
from policy.diagnostics import visible
from policy.sandbox import WAYS

_PINS = {
    "unchanged": "as accepted",
    "new": "new",
    "changed": "changed",
    "missing": "no longer declared",
    "left-out": "left out",
}
_NOT_SHOWN = ("missing", "left-out")
_ERAS = {"handshake": "with a handshake", "stateless": "without a handshake"}


def lines(found: Mapping[str, Any]) -> Iterator[str]:
    """Yield a report line by line; `!` is what is wrong."""
    yield from _installation(found["installation"])
    yield from _policy(found["policy"])
    yield from _hooks(found["hooks"])
    yield from _servers(found["servers"], _shown(found["policy"]["path"]))
    yield from _plugins(found["plugins"])
    if found["sandbox"] is not None:
        yield from _sandbox(found["sandbox"])


def _installation(found: Mapping[str, Any]) -> Iterator[str]:
    yield f"placet {found['version']}, Python {found['python']}, {_shown(found['program'])}"
    there = [name for name, is_there in found["extras"].items() if is_there]
    missing = [name for name, is_there in found["extras"].items() if not is_there]
    also = f"; not installed: {', '.join(missing)}" if missing else ""
    yield f"extras: {', '.join(there) or 'none'}{also}"


def _policy(found: Mapping[str, Any]) -> Iterator[str]:
    path, generation = _shown(found["path"]), found["generation"]
    if generation is None:
        yield f"! policy {path} is not in force: {_shown(found['because'] or 'nothing is there')}"
    else:
        yield f"policy {path} is in force, {generation['digest'][:19]}"
    for freeze in found["freezes"]:
        yield f"frozen: {_shown(', '.join(freeze['tools']))}, because {_shown(freeze['because'])}"
    for note in found["notes"]:
        yield f"note: {visible(note, 1000)}"
    for daemon in found["daemons"]:
        yield f"daemon for hooks: process {daemon['pid']}, in {_shown(daemon['project'])}"
    if not found["daemons"]:
        yield "daemon for hooks: none runs with this policy"


def _hooks(found: list[Mapping[str, Any]]) -> Iterator[str]:
    if not found:
        yield "hooks: none is installed"
    for hook in found:
        which = (
            "this policy" if hook.get("of_this_policy") else f"the policy {_shown(hook['policy'])}"
        )
        yield f"hook of {hook['agent']}: in {_shown(hook['file'])}, with {which}"
        if hook["problem"] is not None:
            yield f"  ! {_shown(hook['problem'])}"


def _servers(found: list[Mapping[str, Any]], policy: str) -> Iterator[str]:
    if not found:
        yield "MCP servers: none is configured"
    for server in found:
        how = [server["state"]]
        if server["era"] is not None:
            how.append(f"{_ERAS[server['era']]} ({_shown(server['protocol_version'])})")
        pins = server["pins"]
        if server["state"] == "reached":
            count = counted(sum(n for state, n in pins.items() if state not in _NOT_SHOWN), "tool")
            states = ", ".join(f"{n} {_PINS[state]}" for state, n in pins.items())
            how.append(f"{count}: {states}" if pins else count)
        yield f"server {_shown(server['name'])}: {server['transport']}, {', '.join(how)}"
        for problem in server["problems"]:
            yield f"  ! {_shown(problem)}"
        if pins.get("changed"):
            yield f"  ! see `placet pin review {policy} --server {_shown(server['name'])}`"
        elif pins.get("new"):
            yield f"  next: `placet pin accept {policy} --server {_shown(server['name'])}`"


def _plugins(found: list[Mapping[str, Any]]) -> Iterator[str]:
    for plugin in found:
        problem = plugin["problem"]
        how = f"{plugin['runtime']}, as reviewed" if problem is None else "does not run"
        yield f"plugin {_shown(plugin['name'])}: {how}"
        if problem is not None:
            yield f"  ! {_shown(problem)}"


def _sandbox(found: Mapping[str, Any]) -> Iterator[str]:
    configured = found["driver"]
    if configured == "off":
        so = "run" if found["required"] else "confined"
        yield f"sandbox: commands are not {so}, since `[sandbox] driver` is off"
    elif found["problem"] is None:
        yield f"sandbox: commands are confined by `{configured}`"
    else:
        so = "are not run" if found["required"] else "run unconfined"
        # There may be no commands to run, as in front of a coding agent.
        mark = "! " if found["wrong"] else ""
        yield f"{mark}sandbox: {found['problem']}, so commands of `bash_exec` {so}"
        if found["required"]:
            yield f"  {WAYS}"
    if found["bash"] is None:
        yield "! `bash` is not installed here, so `bash_exec` runs nothing"
    for driver in found["drivers"]:
        yield f"  {driver['name']}: {_how(driver)}"
        if driver["fix"] is not None:
            yield f"    {_shown(driver['fix'])}"
    if any(driver["problem"] is None for driver in found["drivers"]):
        yield f"  not stopped by any, and not tried: {', '.join(found['not_tried'])}"


def _how(driver: Mapping[str, Any]) -> str:
    if driver["problem"] is not None:
        return f"does not work here: {_shown(driver['problem'])}"
    reached = driver["reached"]
    out = [name for name, got_out in reached.items() if got_out]
    tried = f"works here; {len(reached)} attempts to get out"
    return f"{tried}, not stopped: {', '.join(out)}" if out else f"{tried}, all stopped"


def _shown(text: object) -> str:
    return visible(str(text), 500)

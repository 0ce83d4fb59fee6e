"""What was judged in, what the agent is to run instead out: rewritten fields and printed commands.

The agent runs its own tool with its own fields. A change that has no field to go back to would be
lost, so such a call is denied.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from policy.call import ToolCall, thaw
from policy.commands import NotPrintable, printed, read_script
from policy.daemon.agents import Agent, HookCall, Unmapped
from policy.decision import Decision
from policy.values import Unreadable

_SHELL = "bash_exec"


def handed_back(
    agent: Agent, call: HookCall, decisions: tuple[Decision, ...], *, cwd: str
) -> Mapping[str, Any] | None:
    """Return the fields of the agent's input that are to change, None where nothing is.

    Where the agent replaces its whole input, all fields are returned. Raises Unmapped where a
    change cannot be handed back.
    """
    row = agent.rows.get(call.tool)
    if row is None or len(decisions) != 1:
        if any(decision.rewritten for decision in decisions):
            raise Unmapped(f"a rule changes this call, and {call.tool} has no field for that")
        return None
    (decision,) = decisions
    changed = _changed(decision)
    if decision.call.tool == _SHELL and "command" in row.back:
        command = decision.call.input["command"]
        script = script_for_agent(command, only_in=cwd if agent.hides_folder else None)
        if script != call.input.get("command"):
            changed["command"] = script
    updated: dict[str, Any] = {}
    for name, value in changed.items():
        if name not in row.back:
            raise Unmapped(f"a rule changes `{name}`, and {call.tool} has no such field")
        theirs, factor = row.back[name]
        updated[theirs] = value * factor if factor != 1 else value
    if not updated:
        return None
    return {**call.input, **updated} if agent.replaces_input else updated


def script_for_agent(command: str, *, only_in: str | None) -> str:
    """Return the script a shell is to get: printed from what was read, as for `bash_exec`.

    With `only_in` it ends at once where it is started in another folder than it was judged in.
    """
    form = printed(command)
    if isinstance(form, NotPrintable):
        script = read_script(command)
        if not isinstance(script, Unreadable) and not script.gaps:
            raise Unmapped(f"the command has no printed form: {form.reason}")
        form = command
    if only_in is None:
        return form
    elsewhere = f"placet: this command was judged for {only_in}: use `cd` in the command instead"
    guard = (
        f"[ . -ef {shlex.quote(only_in)} ] || {{ echo {shlex.quote(elsewhere)} >&2; exit 126; }}"
    )
    return f"{guard}\n{form}"


def _changed(decision: Decision) -> dict[str, Any]:
    """Return the fields that rules have changed; raise Unmapped where one was taken away."""
    if not decision.rewritten:
        return {}
    now, asked = _fields(decision.call), _fields(decision.asked)
    gone = sorted(set(asked) - set(now))
    if gone:
        raise Unmapped(f"a rule takes `{gone[0]}` away, which cannot be handed back")
    return {name: value for name, value in now.items() if asked.get(name, now) != value}


def _fields(call: ToolCall) -> dict[str, Any]:
    return {name: thaw(value) for name, value in call.input.items()}

"""The input that the agent runs instead of its own: rewritten fields and printed commands.

The agent runs its own tool with its own fields. A change without a corresponding field would be
lost, so such a call is denied.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from typing import Any

from policy.daemon.agents.agent import Agent, HookCall
from policy.daemon.agents.mapping import Mapped, OurCall, Row, Unmapped
from policy.decision import Decision
from policy.model import ToolCall, thaw
from policy.shell import NotPrintable, printed, read_script
from policy.values import Unreadable

_SHELL = "bash_exec"


def updated_input(
    agent: Agent, call: HookCall, meant: Mapped, decisions: tuple[Decision, ...]
) -> Mapping[str, Any] | None:
    """Return the changed fields of the agent's input; None if nothing changes.

    Where the agent replaces its whole input, all fields are returned. Raises Unmapped where the
    agent would run something else than was judged.
    """
    for asked, decision in zip(meant.calls, decisions, strict=True):
        _require_same(asked, decision)
    if len(decisions) != 1:
        if any(decision.rewritten for decision in decisions):
            raise Unmapped(f"a rule changes this call, and {call.tool} has no field for that")
        return None
    (decision,) = decisions
    changed = _changed(decision)
    if meant.row is None:
        updated = changed
    else:
        if decision.call.tool == _SHELL and "command" in meant.row.back:
            changed["command"] = script_for_agent(
                decision.call.input["command"], only_in=meant.cwd if agent.hides_folder else None
            )
        updated = _theirs(meant.row, call, changed)
    if all(_alike(value, call.input.get(name)) for name, value in updated.items()):
        return None
    return {**call.input, **updated} if agent.replaces_input else updated


def _require_same(asked: OurCall, decision: Decision) -> None:
    """Raise Unmapped where the judged call is a corrected one: the agent runs its own."""
    judged = _fields(decision.asked)
    is_same = decision.asked.tool == asked.tool and all(
        _alike(judged.get(name), value) for name, value in asked.input.items()
    )
    if not is_same:
        names = ", ".join(f"`{name}`" for name in judged)
        raise Unmapped(
            "the tool or field name is misspelled; use the exact names: "
            f"`{decision.asked.tool}` with {names or 'no fields'}"
        )


def _alike(one: Any, other: Any) -> bool:
    """Return whether two JSON values are equal in value and type: `1` is not `1.0` or `true`."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _theirs(row: Row, call: HookCall, changed: Mapping[str, Any]) -> dict[str, Any]:
    """Return changed fields of our tool as fields of the agent's tool."""
    updated: dict[str, Any] = {}
    for name, value in changed.items():
        if name not in row.back:
            raise Unmapped(f"a rule changes `{name}`, and {call.tool} has no such field")
        theirs, factor = row.back[name]
        updated[theirs] = value * factor if factor != 1 else value
    return updated


def script_for_agent(command: str, *, only_in: str | None) -> str:
    """Return the script for the shell: printed from the parsed one, as for `bash_exec`.

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
    """Return the fields that rules have changed; raise Unmapped if one was removed."""
    if not decision.rewritten:
        return {}
    now, asked = _fields(decision.call), _fields(decision.asked)
    gone = sorted(set(asked) - set(now))
    if gone:
        raise Unmapped(f"a rule removes `{gone[0]}`, which a hook cannot do")
    return {name: value for name, value in now.items() if asked.get(name, now) != value}


def _fields(call: ToolCall) -> dict[str, Any]:
    return {name: thaw(value) for name, value in call.input.items()}

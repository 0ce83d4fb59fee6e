"""`Agent` describes the hooks of one agent; `HookCall` is one hook input as parsed."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from policy.catalog import Origin, identifier_problem
from policy.daemon.agents.mapping import Row, Unmapped
from policy.daemon.request import HookAnswer
from policy.diagnostics import visible
from policy.values import Unreadable, read_plain_json

_LONGEST_REASON = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class HookCall:
    """One call as the agent reports it, before its tool runs.

    `subagent` is the name and the id of the sub-agent that makes the call. `mode` is how the agent
    treats permissions at the moment.
    """

    tool: str
    input: Mapping[str, Any]
    cwd: str
    session: str
    mode: str = ""
    subagent: tuple[str, str] | None = None
    mcp: tuple[str, str] | None = None


class Spells(Protocol):
    """Spells an answer in an agent's own format."""

    def __call__(self, reason: str, updated: Mapping[str, Any] | None, /) -> HookAnswer:
        """Return the answer; `updated` are the fields of the tool's input that change."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """One agent's hooks.

    `event` is the hook that is asked before a tool runs. `cannot_ask` returns why a question cannot
    be put to the user now, None where it can. `settings` are its settings files, `~` standing for
    the home folder and `.` for the project's; the first is where `--install` writes.
    `replaces_input` says that a changed input stands for the whole one. `hides_folder`: commands
    may run in another folder than the hook is told.
    """

    name: str
    event: str
    rows: Mapping[str, Row]
    allow: Spells
    ask: Spells
    deny: Spells
    cannot_ask: Callable[[HookCall], str | None]
    settings: tuple[str, ...]
    own_tools: Mapping[str, str]
    replaces_input: bool = True
    hides_folder: bool = False


def read_hook(agent: Agent, text: str, *, cwd: str) -> HookCall:
    """Return the call in a hook's input; raise Unmapped if it is not valid for this agent."""
    given = read_plain_json(text)
    if isinstance(given, Unreadable):
        raise Unmapped(f"the hook's input cannot be parsed: {given.reason}")
    if not isinstance(given, dict):
        raise Unmapped("the hook's input is not a JSON object")
    event, tool, input = (given.get(n) for n in ("hook_event_name", "tool_name", "tool_input"))
    if event != agent.event:
        unexpected = f"unexpected hook event `{event}`" if event else "no `hook_event_name`"
        raise Unmapped(f"{unexpected}; install placet for `{agent.event}` only")
    if not isinstance(tool, str) or not isinstance(input, dict):
        raise Unmapped("the hook's input has no `tool_name` or `tool_input`")
    folder = given.get("cwd", cwd)
    if not isinstance(folder, str) or not os.path.isabs(folder):
        raise Unmapped("the hook's input has no absolute `cwd`")
    return HookCall(
        tool=tool,
        input=input,
        cwd=folder,
        session=_text(given, "session_id") or "default",
        mode=_text(given, "permission_mode"),
        subagent=_subagent(given),
        mcp=_mcp(given, tool),
    )


def mcp_tool(call: HookCall) -> str | None:
    """Return the name of an MCP server's tool in rules; None for every other tool."""
    if call.mcp is None:
        return None
    origin = Origin(kind="mcp", server=call.mcp[0], tool=call.mcp[1])
    problem = identifier_problem(origin) if all(call.mcp) else "a part of its name is empty"
    if problem is not None:
        raise Unmapped(f"a tool of this MCP server cannot be named in a policy: {problem}")
    return origin.flat_name()


def json_answer(document: Mapping[str, Any]) -> HookAnswer:
    """Return the answer that prints an object."""
    return HookAnswer(status=0, stdout=json.dumps(document) + "\n")


def fitted(reason: str) -> str:
    """Return a reason as one line of bounded length, never empty."""
    return visible(reason, _LONGEST_REASON) or "placet: the call is denied"


def _subagent(given: Mapping[str, Any]) -> tuple[str, str] | None:
    number, kind = _text(given, "agent_id"), _text(given, "agent_type")
    return (kind or "subagent", number) if number else None


def _mcp(given: Mapping[str, Any], tool: str) -> tuple[str, str] | None:
    context = given.get("mcp_context")
    if isinstance(context, dict):
        return _text(context, "server_name"), _text(context, "tool_name")
    if not tool.startswith("mcp__"):
        return None
    server, _, name = tool.removeprefix("mcp__").partition("__")
    return server, name


def _text(given: Mapping[str, Any], name: str) -> str:
    found = given.get(name)
    return found if isinstance(found, str) else ""

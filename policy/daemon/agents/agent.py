"""`Agent` describes the hooks of one agent; `HookCall` is one hook input as parsed."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias

from policy.catalog import Origin, identifier_problem
from policy.daemon.agents.mapping import Row, Unmapped
from policy.daemon.request import HookAnswer
from policy.diagnostics import visible
from policy.model import Outcome
from policy.values import Unreadable, read_plain_json

_LONGEST_REASON = 1_000
_NAMED = "id "

# What an agent tells besides calls: that a session starts, what its user wrote, that a call ended,
# and that one failed.
EventKind: TypeAlias = Literal["start", "prompt", "ended", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class HookCall:
    """One call as the agent reports it, before its tool runs.

    `subagent` is the name and the id of the sub-agent that makes the call. `mode` is how the agent
    treats permissions at the moment. `id` names the call in the event that tells of its end.
    """

    tool: str
    input: Mapping[str, Any]
    cwd: str
    session: str
    mode: str = ""
    subagent: tuple[str, str] | None = None
    mcp: tuple[str, str] | None = None
    id: str = ""

    @property
    def is_named(self) -> bool:
        """Whether the agent has given the call an id of its own."""
        return self.id.startswith(_NAMED)


class Spells(Protocol):
    """Spells an answer in an agent's own format."""

    def __call__(self, reason: str, updated: Mapping[str, Any] | None, /) -> HookAnswer:
        """Return the answer; `updated` are the fields of the tool's input that change."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """One agent's hooks.

    `event` is the hook that is asked before a tool runs, `events` are those that only tell; they
    get the answer `heard`. `new_sessions` are the sources of a session without a past.
    `is_own_prompt` recognises a prompt that the agent has written itself; once a session has used
    one of the tools `prompts`, the agent does not tell which prompts are its user's. `outcome` is
    how a call ended, by its response; None: that is not told. `cannot_ask` returns why a question
    cannot be put to the user now, None where it can. `settings` are its settings files, `~`
    standing for the home folder and `.` for the project's; `--install` writes to the first.
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
    events: Mapping[str, EventKind]
    replaces_input: bool = True
    hides_folder: bool = False
    heard: HookAnswer = field(default_factory=lambda: HookAnswer(status=0))
    new_sessions: frozenset[str] = frozenset({"startup", "clear"})
    is_own_prompt: Callable[[str], bool] = lambda prompt: False
    prompts: frozenset[str] = frozenset()
    outcome: Callable[[object], Outcome | None] = lambda response: None


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
        raise Unmapped(f"{unexpected}; `placet hook {agent.name} --install` registers those known")
    if not isinstance(tool, str) or not isinstance(input, dict):
        raise Unmapped("the hook's input has no `tool_name` or `tool_input`")
    folder = given.get("cwd", cwd)
    if not isinstance(folder, str) or not os.path.isabs(folder):
        raise Unmapped("the hook's input has no absolute `cwd`")
    session, subagent = caller_ids(given)
    return HookCall(
        tool=tool,
        input=input,
        cwd=folder,
        session=session,
        mode=_text(given, "permission_mode"),
        subagent=subagent,
        mcp=_mcp(given, tool),
        id=call_id(given),
    )


def call_id(given: Mapping[str, Any]) -> str:
    """Return what names a call in the input of a hook, before the call and after it.

    That is the agent's own id, else the tool and its input.
    """
    named = _text(given, "tool_use_id")
    if named:
        return f"{_NAMED}{named}"
    return _unnamed_call(given.get("tool_name"), given.get("tool_input"))


def call_ids(call: HookCall, updated: Mapping[str, Any] | None) -> tuple[str, ...]:
    """Return what may name a call once it has ended, if it runs with this input of ours."""
    if updated is None or call.id != _unnamed_call(call.tool, call.input):
        return (call.id,)
    return (call.id, _unnamed_call(call.tool, {**call.input, **updated}))


def _unnamed_call(tool: object, input: object) -> str:
    return f"call {json.dumps([tool, input], sort_keys=True)}"


def caller_ids(given: Mapping[str, Any]) -> tuple[str, tuple[str, str] | None]:
    """Return the session in the input of a hook, and the name and id of a sub-agent in it."""
    return _text(given, "session_id") or "default", _subagent(given)


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


def told_to_user(message: str) -> HookAnswer:
    """Return the answer to an event by which the agent shows its user a message, and goes on."""
    return json_answer({"systemMessage": fitted(message)})


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

"""What an agent tells its hooks besides the calls that it asks about: `AgentEvent`.

These are the start of a session, what its user wrote, and what came of a call.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from policy.daemon.agents.agent import Agent, EventKind, call_id, caller_ids
from policy.model import CallOutput, Outcome, freeze
from policy.values import Unreadable, read_plain_json


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentEvent:
    """One event of a session.

    `prompt` is what the user wrote; None: the agent wrote it, or, if `unreadable`, it cannot be
    read. `resumed`: the session goes on with what was said before. `call` is the id of the call
    that has ended, or its tool and input where the agent gives none; `outcome` None: the agent does
    not say.
    """

    kind: EventKind
    session: str
    subagent: tuple[str, str] | None = None
    prompt: str | None = None
    unreadable: bool = False
    resumed: bool = False
    call: str = ""
    outcome: Outcome | None = None
    output: CallOutput | None = None


def read_event(agent: Agent, text: str) -> AgentEvent | None:
    """Return the event in a hook's input; None if it is another input, such as a call."""
    given = read_plain_json(text)
    is_whole = not isinstance(given, Unreadable)
    if not is_whole:
        given = _leniently(text)
    kind = agent.events.get(str(given.get("hook_event_name"))) if isinstance(given, dict) else None
    if kind is None:
        return None
    session, subagent = caller_ids(given)
    match kind:
        case "start":
            resumed = given.get("source") not in agent.new_sessions
            return AgentEvent(kind=kind, session=session, subagent=subagent, resumed=resumed)
        case "prompt":
            prompt = given.get("prompt")
            if not is_whole or not isinstance(prompt, str):
                return AgentEvent(kind=kind, session=session, subagent=subagent, unreadable=True)
            said = None if agent.is_own_prompt(prompt) else prompt
            return AgentEvent(kind=kind, session=session, subagent=subagent, prompt=said)
        case "ended" | "failed":
            response = given.get("error" if kind == "failed" else "tool_response")
            return AgentEvent(
                kind=kind,
                session=session,
                subagent=subagent,
                call=call_id(given),
                outcome=_outcome(agent, given, kind),
                output=_output(response, failed=kind == "failed") if is_whole else None,
            )


def _leniently(text: str) -> Any:
    """Return JSON that we do not read as a call, so as to see which event it is."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _outcome(agent: Agent, given: Mapping[str, Any], kind: EventKind) -> Outcome | None:
    if kind == "failed":
        return "cancelled" if given.get("is_interrupt") is True else "failed"
    return agent.outcome(given.get("tool_response"))


def _output(response: object, *, failed: bool) -> CallOutput | None:
    """Return what the agent got from a call; None if it does not say, or it cannot be kept."""
    if response is None:
        return None
    if failed:
        return CallOutput(texts=(str(response),))
    if isinstance(response, dict) and isinstance(response.get("llmContent"), str):
        return CallOutput(result=response["llmContent"])
    try:
        return CallOutput(result=freeze(response))
    except RecursionError:
        return None

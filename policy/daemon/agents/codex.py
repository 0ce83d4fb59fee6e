"""Codex CLI: the `PreToolUse` hook."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policy.daemon.agents.agent import Agent, HookCall, fitted, json_answer
from policy.daemon.agents.mapping import Row
from policy.daemon.agents.patch import patch_applied
from policy.daemon.agents.readers import command
from policy.daemon.request import HookAnswer
from policy.model import Outcome

ROWS = {
    "Bash": Row(
        page="`bash_exec` of `command`",
        calls=command(),
        back={"command": ("command", 1)},
    ),
    "apply_patch": Row(
        page="`file_write`, `file_read` and `file_delete` of the files that the patch names",
        calls=patch_applied,
    ),
}


def _allow(reason: str, updated: Mapping[str, Any] | None) -> HookAnswer:
    # Codex refuses an `allow` that changes nothing, and runs the call; saying nothing is enough.
    if updated is None:
        return HookAnswer(status=0)
    return _answer(permissionDecision="allow", updatedInput=updated)


def _deny(reason: str, updated: Mapping[str, Any] | None) -> HookAnswer:
    return _answer(permissionDecision="deny", permissionDecisionReason=fitted(reason))


def _answer(**output: Any) -> HookAnswer:
    return json_answer({"hookSpecificOutput": {"hookEventName": "PreToolUse", **output}})


def _cannot_ask(call: HookCall) -> str | None:
    return "it needs a person's answer, and a hook of Codex cannot ask"


def _outcome(response: object) -> Outcome | None:
    """Return how a call ended; Codex says so only in the results of MCP servers."""
    failed = response.get("isError") if isinstance(response, dict) else None
    if not isinstance(failed, bool):
        return None
    return "failed" if failed else "ok"


CODEX = Agent(
    name="codex",
    event="PreToolUse",
    events={"SessionStart": "start", "UserPromptSubmit": "prompt", "PostToolUse": "ended"},
    outcome=_outcome,
    rows=ROWS,
    allow=_allow,
    ask=_deny,
    deny=_deny,
    cannot_ask=_cannot_ask,
    settings=(
        "~/.codex/hooks.json",
        "~/.codex/config.toml",
        "./.codex/hooks.json",
        "./.codex/config.toml",
    ),
    own_tools={},
    hides_folder=True,
)

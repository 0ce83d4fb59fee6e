"""Decides one hook input under a policy, in this process."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from policy.daemon.agents import AGENTS
from policy.daemon.context import HookContext
from policy.daemon.decider import Decider
from policy.daemon.request import HookAnswer, Request


def request(rules: Path, agent: str, text: str, **more: Any) -> Request:
    """Return what a hook process asks, standing in the folder beside the rules."""
    given: dict[str, Any] = {
        "agent": agent,
        "policy": str(rules),
        "cwd": str(rules.parent),
        "home": str(rules.parent / "home"),
        "input": text,
        "project": str(rules.parent / "project"),
        "denies_asks": False,
        **dict.fromkeys(("workspace", "settings_folder", "caller", "audit")),
        **more,
    }
    return Request(**given)


def hook_input(rules: Path, agent: str, tool: str, input: object, **more: Any) -> str:
    """Return what an agent writes to its hook."""
    given = {
        "session_id": "s-1",
        "cwd": str(rules.parent / "project"),
        "hook_event_name": AGENTS[agent].event,
        "tool_name": tool,
        "tool_input": input,
        **more,
    }
    return json.dumps(given)


def decided(asked: Request) -> HookAnswer:
    """Return the answer of a decider made for this one request."""
    return asyncio.run(Decider(HookContext.of(asked)).answer(asked))

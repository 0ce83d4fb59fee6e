"""The supported agents, each with its table of tools and its format of answers."""

from __future__ import annotations

from policy.daemon.agents.agent import Agent, HookCall, mcp_tool, read_hook
from policy.daemon.agents.claude_code import CLAUDE_CODE
from policy.daemon.agents.codex import CODEX
from policy.daemon.agents.events import AgentEvent, read_event
from policy.daemon.agents.gemini_cli import GEMINI_CLI
from policy.daemon.agents.mapping import Mapped, OurCall, Row, Unmapped, mapped

AGENTS = {agent.name: agent for agent in (CLAUDE_CODE, GEMINI_CLI, CODEX)}

__all__ = [
    "AGENTS",
    "Agent",
    "AgentEvent",
    "HookCall",
    "Mapped",
    "OurCall",
    "Row",
    "Unmapped",
    "mapped",
    "mcp_tool",
    "read_event",
    "read_hook",
]

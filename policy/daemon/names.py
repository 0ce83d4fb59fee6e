"""The agents by name, and what the command line asks of them, without importing their tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

# A test holds these to the tables.
AGENT_NAMES = ("claude-code", "gemini-cli", "codex")


class AgentFiles(NamedTuple):
    """What of an agent its settings need: the hook's event, the file, and tools without resources.

    `settings` is the user's own file, below the home folder where it begins with `~`. `own_tools`
    are descriptions by name.
    """

    event: str
    settings: str
    own_tools: Mapping[str, str]


def agent_files(name: str) -> AgentFiles:
    """Return what is known of an agent's settings."""
    from policy.daemon.agents import AGENTS

    agent = AGENTS[name]
    return AgentFiles(agent.event, agent.settings[0], agent.own_tools)

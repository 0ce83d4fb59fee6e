"""The tools of coding agents that access no files, commands or hosts, as a catalogue lists them."""

from __future__ import annotations

import json
from collections.abc import Iterator

from policy.cli.loading import build_at
from policy.daemon import AGENT_NAMES, agent_settings

_MOST_NAMED = 3


def with_own_tools() -> tuple[str, ...]:
    """Return the agents whose hooks are asked about tools of their own."""
    return tuple(agent for agent in AGENT_NAMES if agent_settings(agent)[2])


def tools_list(agent: str) -> str:
    """Return the own tools of an agent as JSON, in the form of a `tools/list` result."""
    described = agent_settings(agent)[2]
    listed = [
        {
            "name": name,
            "description": described[name],
            "inputSchema": {"type": "object", "additionalProperties": True},
            "resources": {"complete": True},
        }
        for name in sorted(described)
    ]
    return json.dumps({"tools": listed}, indent=2)


def notes_on_policy(path: str, agent: str) -> Iterator[str]:
    """Yield what somebody should know who puts this policy in front of the agent."""
    generation = build_at(path, None).generation
    if generation is None:
        yield (
            f"warning: {path} has errors, so every call is denied until they are corrected: "
            f"see `placet check {path}`"
        )
        return
    own = sorted(agent_settings(agent)[2])
    if own and not any(generation.catalog.get(name) for name in own):
        yield (
            f"note: this policy knows none of the agent's own tools ({', '.join(own[:_MOST_NAMED])}"
            f", …), so they are denied: `placet hook {agent} --tools` lists them for its catalogue"
        )

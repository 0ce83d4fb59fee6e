"""Decides the tool calls of coding agents: a client for their hooks, and a resident process.

A hook call is a separate process, so importing this package must stay cheap: what loads a policy
is imported by the daemon, or by a client that finds none.
"""

from policy.daemon.client import answer_hook, input_in_time
from policy.daemon.control import (
    AGENT_NAMES,
    PROJECT_VARIABLES,
    SETTINGS_VARIABLES,
    agent_settings,
    daemons,
    own_command,
    stop_daemon,
)
from policy.daemon.protocol import BLOCKED, LONGEST_INPUT, blocked

__all__ = [
    "AGENT_NAMES",
    "BLOCKED",
    "LONGEST_INPUT",
    "PROJECT_VARIABLES",
    "SETTINGS_VARIABLES",
    "agent_settings",
    "answer_hook",
    "blocked",
    "daemons",
    "input_in_time",
    "own_command",
    "stop_daemon",
]

"""Decides the tool calls of coding agents: a client for their hooks, and a resident process.

A hook call is a separate process, so importing this package must stay cheap: what loads a policy
is imported by the daemon, or by a client that finds none.
"""

from policy.daemon.client import answer_hook, input_in_time
from policy.daemon.control import (
    AGENT_NAMES,
    PROJECT_VARIABLES,
    SETTINGS_VARIABLES,
    agent_events,
    agent_settings,
    agent_tools,
    daemons,
    history_of_hooks,
    own_command,
    stop_daemon,
)
from policy.daemon.git_variables import leads_elsewhere
from policy.daemon.protocol import BLOCKED, LONGEST_INPUT, blocked
from policy.daemon.unrecorded import judged_unrecorded

__all__ = [
    "AGENT_NAMES",
    "BLOCKED",
    "LONGEST_INPUT",
    "PROJECT_VARIABLES",
    "SETTINGS_VARIABLES",
    "agent_events",
    "agent_settings",
    "agent_tools",
    "answer_hook",
    "blocked",
    "daemons",
    "history_of_hooks",
    "input_in_time",
    "judged_unrecorded",
    "leads_elsewhere",
    "own_command",
    "stop_daemon",
]

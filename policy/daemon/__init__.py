"""Decides the tool calls of coding agents: a client for their hooks, and a resident process.

A hook call is a process of its own, so importing this package must stay cheap: what loads a policy
is imported by the daemon, or by a client that finds none.
"""

from __future__ import annotations

from policy.daemon.answering import answer_hook, decide_here
from policy.daemon.control import DaemonStatus, daemons, stop_daemon
from policy.daemon.exchange import BLOCKED, LONGEST_INPUT, Answer, Request, blocked
from policy.daemon.names import AGENT_NAMES, AgentFiles, agent_files

__all__ = [
    "AGENT_NAMES",
    "BLOCKED",
    "LONGEST_INPUT",
    "AgentFiles",
    "Answer",
    "DaemonStatus",
    "Request",
    "agent_files",
    "answer_hook",
    "blocked",
    "daemons",
    "decide_here",
    "stop_daemon",
]

"""Functions for the command line: list and stop daemons, and describe the supported agents.

Hook calls import this module with the package, so its functions import what they need.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

# A test holds these to the tables of `agents`.
AGENT_NAMES = ("claude-code", "gemini-cli", "codex")
# Where agents say which folder they work on, and in which their user's settings are.
PROJECT_VARIABLES = {"claude-code": "CLAUDE_PROJECT_DIR", "gemini-cli": "GEMINI_PROJECT_DIR"}
SETTINGS_VARIABLES = {"claude-code": "CLAUDE_CONFIG_DIR", "codex": "CODEX_HOME"}


def daemons() -> list[dict[str, Any]]:
    """Return the status of each daemon of this user, with its `socket`.

    One that does not answer has a `problem`. Raises OSError where their folder cannot be used.
    """
    import os

    from policy.daemon.endpoint import EndpointUnusable, sockets

    if os.name != "posix":
        return []
    try:
        found = sockets()
    except EndpointUnusable as error:
        raise OSError(str(error)) from error
    return [status for socket in found if (status := _status(socket)) is not None]


def history_of_hooks(policy: str) -> str:
    """Return the file that keeps the history of the sessions whose hooks a policy decides."""
    from policy.daemon.hook_history import file_of

    return str(file_of(policy))


def stop_daemon(socket: str) -> None:
    """Stop the daemon at a socket; raise OSError if it does not answer."""
    _reply_of(socket, "stop")


def agent_settings(name: str) -> tuple[str, str, Mapping[str, str]]:
    """Return an agent's hook event, its user's settings file, and its tools without resources."""
    from policy.daemon.agents import AGENTS

    agent = AGENTS[name]
    return agent.event, agent.settings[0], agent.own_tools


def agent_events(name: str) -> dict[str, bool]:
    """Return the events of an agent that only tell something, each with whether it is of a tool."""
    from policy.daemon.agents import AGENTS

    return {event: kind in ("ended", "failed") for event, kind in AGENTS[name].events.items()}


def agent_tools() -> dict[str, str]:
    """Return the names of the agents' own tools, each with the agents that have it."""
    from policy.daemon.agents import AGENTS

    found: dict[str, list[str]] = {}
    for agent in AGENTS.values():
        for name in {*agent.rows, *agent.own_tools}:
            found.setdefault(name, []).append(agent.name)
    return {name: ", ".join(agents) for name, agents in sorted(found.items())}


def own_command() -> list[str]:
    """Return the command that starts this program in any folder and environment.

    The script `placet` is not among them: what `PYTHONPATH` names is imported before it can act.
    """
    import sys

    from policy.processes import isolated

    return [sys.executable, *isolated(), "-m", "policy"]


def _status(socket: str) -> dict[str, Any] | None:
    """Return the status of a daemon; None if it was killed and only its socket is left."""
    try:
        return {"socket": socket, "problem": None, **_reply_of(socket, "status")}
    except (FileNotFoundError, ConnectionRefusedError):
        return None
    except OSError as error:
        return {"socket": socket, "problem": str(error)}


def _reply_of(socket: str, kind: str) -> dict[str, Any]:
    from policy.daemon.connection import NoDaemon, exchange
    from policy.daemon.protocol import line_of

    try:
        said = exchange(socket, line_of({"kind": kind}))
    except NoDaemon as error:
        raise OSError(str(error)) from error
    return {name: value for name, value in said.items() if name != "kind"}

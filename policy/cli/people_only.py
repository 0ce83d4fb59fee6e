"""Refuses commands for people only where an agent's tool call started them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from policy.cli.loading import exit_with
from policy.tools import CALL_VARIABLE

_PROCESSES = Path("/proc")
_MOST_ANCESTORS = 100


def refuse_agents(what: str) -> None:
    """End the command if it was started by a tool call, and so not by a person.

    This is the second of two barriers. The first are the rules: no pattern with a `*` covers these
    commands. What a call runs out of sight must be confined by a sandbox.
    """
    if CALL_VARIABLE in os.environ or any(map(_began_in_a_call, _ancestors(os.getppid()))):
        exit_with(f"{what} is for people only, and this command was started by a tool call")


def _ancestors(pid: int, processes: Path = _PROCESSES) -> Iterator[int]:
    """Yield a process and all of its ancestors, where the system reports them (Linux).

    A variable is easier to remove than an ancestor: `env -u` leaves the shell that ran it.
    """
    for _ in range(_MOST_ANCESTORS):
        if pid <= 1:
            return
        yield pid
        try:
            # The name in parentheses may contain any character, including parentheses.
            fields = (processes / str(pid) / "stat").read_bytes().rpartition(b")")[2].split()
            pid = int(fields[1])
        except (OSError, IndexError, ValueError):
            return


def _began_in_a_call(pid: int, processes: Path = _PROCESSES) -> bool:
    """Return whether a process was started with the mark of a tool call in its environment."""
    try:
        environment = (processes / str(pid) / "environ").read_bytes()
    except OSError:
        return False  # another user's, or gone
    mark = f"{CALL_VARIABLE}=".encode()
    return any(entry.startswith(mark) for entry in environment.split(b"\0"))

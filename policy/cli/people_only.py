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
    """End the command where it was started by a tool call, and so by no person.

    This is the second of two locks. The first are the rules: no pattern with a `*` covers these
    commands, and what a call runs out of sight is for a sandbox to confine.
    """
    if CALL_VARIABLE in os.environ or any(map(_began_in_a_call, _ancestors(os.getppid()))):
        exit_with(f"{what} is for people, and this command was started by a tool call")


def _ancestors(pid: int, processes: Path = _PROCESSES) -> Iterator[int]:
    """Yield a process and all above it, where the system tells (Linux).

    A variable is taken away more easily than a parent: `env -u` leaves the shell that ran it.
    """
    for _ in range(_MOST_ANCESTORS):
        if pid <= 1:
            return
        yield pid
        try:
            # The name in brackets may hold anything, a bracket too.
            told = (processes / str(pid) / "stat").read_bytes().rpartition(b")")[2].split()
            pid = int(told[1])
        except (OSError, IndexError, ValueError):
            return


def _began_in_a_call(pid: int, processes: Path = _PROCESSES) -> bool:
    """Tell whether a process was started with the mark of a tool call in its environment."""
    try:
        environment = (processes / str(pid) / "environ").read_bytes()
    except OSError:
        return False  # another user's, or gone
    mark = f"{CALL_VARIABLE}=".encode()
    return any(entry.startswith(mark) for entry in environment.split(b"\0"))

"""Refuses commands for people only where an agent started them.

All commands that change rules, settings, approvals or freezes on behalf of people call this. It is
the second of two barriers, and no proof: the first are the rules, whose patterns with a `*` never
cover these commands. What an agent runs out of sight must be confined by a sandbox (decision 0064).
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator
from pathlib import Path

from policy.cli.loading import exit_with
from policy.tools import CALL_VARIABLE

# What agents set for the commands that they run; none of it stands in a person's own terminal.
AGENT_VARIABLES = (
    "AI_AGENT", "AMP_CURRENT_THREAD_ID", "ANTIGRAVITY_AGENT", "AUGMENT_AGENT", "CLAUDECODE",
    "CLINE_ACTIVE", "CODEX_SANDBOX", "CODEX_THREAD_ID", "COPILOT_AGENT", "COPILOT_CLI",
    "CURSOR_AGENT", "GEMINI_CLI", "OPENCODE", "PI_CODING_AGENT",
)  # fmt: skip
AGENT_PROGRAMS = frozenset(
    {
        "aider", "claude", "codex", "copilot", "cursor-agent", "gemini", "opencode", "openhands",
    }
)  # fmt: skip
_INTERPRETER = re.compile(r"node(js)?|bun|deno|python[\d.]*")
_PROCESSES = Path("/proc")
_MOST_ANCESTORS = 100


def refuse_agents(what: str) -> None:
    """End the command if it was started by an agent, and so not by a person."""
    found = agent_above(os.environ.keys(), os.getppid())
    if found is not None:
        exit_with(
            f"{what} is for people only, and this command was started by {found};"
            " run it in a terminal of your own"
        )


def agent_above(own: Collection[str], parent: int, processes: Path = _PROCESSES) -> str | None:
    """Return which agent started this process, as far as it shows: in words, None for a person.

    A variable is easier to remove than an ancestor: `env -u` leaves the shell that ran it, and
    the agent above that. Ancestors are visible on Linux only.
    """
    ancestors = [processes / str(pid) for pid in _ancestors(parent, processes)]
    for names in (own, *map(_variables, ancestors)):
        if CALL_VARIABLE in names:
            return "a tool call"
        for variable in AGENT_VARIABLES:
            if variable in names:
                return f"an agent, which set `{variable}`"
    programs = (program for process in ancestors if (program := _program(process)))
    return next((f"an agent, `{program}`" for program in programs), None)


def _ancestors(pid: int, processes: Path) -> Iterator[int]:
    """Yield a process and all of its ancestors, where the system reports them."""
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


def _variables(process: Path) -> frozenset[str]:
    """Return the names of the variables that a process was started with."""
    entries = _strings(process / "environ")
    return frozenset(name for name, equals, _ in (e.partition("=") for e in entries) if equals)


def _program(process: Path) -> str | None:
    """Return the agent that a process runs, directly or by an interpreter."""
    words = _strings(process / "cmdline")
    if words and _INTERPRETER.fullmatch(os.path.basename(words[0])):
        words = [word for word in words[1:] if not word.startswith("-")]
    name = os.path.basename(words[0]).partition(".")[0] if words else ""
    return name if name in AGENT_PROGRAMS else None


def _strings(file: Path) -> list[str]:
    try:
        text = file.read_bytes().decode("utf-8", "replace")
    except OSError:
        return []  # another user's, or gone
    return [string for string in text.split("\0") if string]

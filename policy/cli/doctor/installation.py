"""What is installed: the program, its extras, and the hooks of coding agents."""

from __future__ import annotations

import os
import platform
import shlex
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from policy.cli.agent_settings.entry import hooks_are_off, without_hook
from policy.cli.agent_settings.json_text import Node, read
from policy.daemon import AGENT_NAMES, SETTINGS_VARIABLES, agent_settings
from policy.version import VERSION

# A module that each extra brings along.
_EXTRAS = {
    "analysis": "z3",
    "mcp": "mcp",
    "redis": "redis",
    "server": "uvicorn",
    "sql": "sqlglot",
    "wasm": "extism",
    "web": "httpx2",
}


def installation() -> dict[str, Any]:
    """Return the versions, where the program is, and whether each extra is installed."""
    return {
        "version": VERSION,
        "python": platform.python_version(),
        "program": sys.executable,
        "platform": platform.platform(terse=True),
        "extras": {name: find_spec(module) is not None for name, module in _EXTRAS.items()},
    }


def hooks_of(policy: Path) -> list[dict[str, Any]]:
    """Return the hooks that are installed for this user and in this folder.

    `problem` is why a hook does not run, or not with a policy; None if nothing is known of that.
    """
    return [
        hook
        for agent in AGENT_NAMES
        for file in _settings(agent)
        if (hook := _hook(agent, file, policy)) is not None
    ]


def _settings(agent: str) -> Iterator[Path]:
    usual = agent_settings(agent)[1]
    folder = os.environ.get(SETTINGS_VARIABLES.get(agent, ""))
    own = os.path.join(folder, os.path.basename(usual)) if folder else os.path.expanduser(usual)
    here = os.path.abspath(usual.removeprefix("~/"))
    yield from map(Path, dict.fromkeys((own, here)))


def _hook(agent: str, file: Path, policy: Path) -> dict[str, Any] | None:
    event = agent_settings(agent)[0]
    found: dict[str, Any] = {"agent": agent, "file": str(file), "policy": None, "problem": None}
    try:
        text = file.read_bytes().decode("utf-8-sig")
        if without_hook(text, event, agent) == text:
            return None
        named = next(filter(None, map(_policy_in, _commands(read(text)))), None)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        return {**found, "problem": f"the file cannot be read: {error}"}
    found["policy"] = named
    found["of_this_policy"] = named is not None and os.path.realpath(named) == os.path.realpath(
        policy
    )
    if hooks_are_off(text):
        found["problem"] = "`disableAllHooks` is true, so it does not run"
    elif named is not None and not os.path.exists(named):
        found["problem"] = "its policy is not there, so every call is denied"
    return found


def _commands(node: Node) -> Iterator[str]:
    """Yield the commands of all hooks in settings."""
    for entry in node.entries:
        if entry.key == "command" and isinstance(entry.node.value, str):
            yield entry.node.value
        yield from _commands(entry.node)


def _policy_in(command: str) -> str | None:
    """Return the policy that a command of ours names."""
    try:
        words = shlex.split(command)
    except ValueError:
        return None
    if "hook" not in words or "--policy" not in words[:-1]:
        return None
    return words[words.index("--policy") + 1]

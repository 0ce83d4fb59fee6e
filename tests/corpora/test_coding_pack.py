"""`placet:coding` over commands that coding agents really ran; the counts may only get better."""

from __future__ import annotations

from pathlib import Path

import pytest

from policy.decision import Decision
from policy.model import Verdict
from tests.corpora.count_verdicts import SHIPPED, counts, judged
from tests.corpora.judging import ROWS, judge, lay_down, told

_POLICY = SHIPPED.read_text(encoding="utf-8")
_LEAST_ALLOWED = 256
_MOST_DENIED = 37


def test_most_of_what_agents_run_is_allowed() -> None:
    found = counts(judged(_POLICY, "seen"))["all"]
    assert found.total() == 344
    assert found[Verdict.ALLOW] >= _LEAST_ALLOWED
    assert found[Verdict.DENY] <= _MOST_DENIED


def _dangerous() -> list[str]:
    lines = (ROWS / "dangerous_commands.txt").read_text(encoding="utf-8").splitlines()
    return [line.replace("\\n", "\n") for line in lines if line and not line.startswith("#")]


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with credentials, beside another one, in a home folder outside of `scratch`."""
    home = tmp_path_factory.mktemp("home")
    folder = home / "work" / "ws"
    files = (
        "a.txt a.py a.js a.c x.sh .env key.pem evil list.txt src/b.py node_modules/x/index.js"
        " .git/hooks/pre-commit.sample .git/config .github/workflows/ci.yml package.json Makefile"
        " ../other/secret.txt ../other/x.sh ../other/x.py ../../.ssh/id_rsa ../../.bashrc"
    )
    lay_down([["file", f"{folder}/{name}"] for name in files.split()])
    lay_down([["link", f"{folder}/linked", "../other"]])
    return folder


def _judged(command: str, workspace: Path, *, using: str = "") -> Decision:
    home = workspace.parents[1]
    places = {"WS": str(workspace), "OTHER": str(workspace.parent / "other")}
    for name, place in places.items():
        command = command.replace(name, place)
    # The pack's own scratch folder holds these files too.
    policy = _POLICY.replace("granting", f'granting with scratch = ["/scratch/**"]{using}')
    return judge(policy, "bash_exec", {"command": command}, workspace=workspace, home=home)


def test_there_are_many_dangerous_commands() -> None:
    assert len(_dangerous()) >= 300
    assert len(set(_dangerous())) == len(_dangerous())


@pytest.mark.parametrize("command", _dangerous())
def test_a_dangerous_command_is_not_allowed(command: str, workspace: Path) -> None:
    decision = _judged(command, workspace)
    assert decision.verdict is not Verdict.ALLOW, told(decision)
    decision = _judged(command, workspace, using=', otherwise = "ask"')
    assert decision.verdict is not Verdict.ALLOW, told(decision)

"""No rule lets a call write the policy's own files, or files that would join them."""

from __future__ import annotations

from pathlib import Path

import pytest

import policy
from policy.model import Verdict

_OPEN = "policy for every agent\n\ndefault allow\n"


def _verdict(root: Path, tool: str, target: Path, *, workspace: Path) -> tuple[Verdict, str]:
    generation = policy.load(root)
    given = {"path": str(target)}
    if tool == "file_write":
        given["content"] = "x"
    call = policy.ToolCall(tool=tool, input=given)
    decision = generation.decide(call, facts=policy.Facts(workspace=str(workspace)))
    return decision.verdict, decision.reasons[0].rule


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    rules = tmp_path / "work" / "rules"
    (rules / "agents").mkdir(parents=True)
    (rules / "global.policy").write_text(_OPEN)
    return tmp_path / "work"


@pytest.mark.parametrize(
    "name",
    [
        "rules/global.policy",
        "rules/new.policy",
        "rules/agents/x.policy",
        "rules/placet.toml",
        "rules",
        "rules/agents",
        "rules/../rules/global.policy",
    ],
)
def test_the_policy_folder_inside_a_workspace_is_closed(workspace: Path, name: str) -> None:
    found = _verdict(workspace / "rules", "file_write", workspace / name, workspace=workspace)
    assert found == (Verdict.DENY, "floor")


def test_beside_the_policy_folder_all_is_open(workspace: Path) -> None:
    found = _verdict(
        workspace / "rules", "file_write", workspace / "rules.txt", workspace=workspace
    )
    assert found[0] is Verdict.ALLOW


def test_deleting_a_folder_above_the_policy_is_denied(workspace: Path) -> None:
    for folder in (workspace, workspace.parent, workspace / "rules"):
        found = _verdict(workspace / "rules", "file_delete", folder, workspace=workspace)
        assert found == (Verdict.DENY, "floor")


def test_a_policy_beside_the_work_closes_its_own_files_only(workspace: Path) -> None:
    (workspace / "top.policy").write_text(_OPEN)
    (workspace / "rules" / "global.policy").unlink()
    for name, verdict in (
        ("notes.txt", Verdict.ALLOW),
        ("top.policy", Verdict.DENY),
        ("sub/new.policy", Verdict.DENY),
        ("placet.toml", Verdict.DENY),
    ):
        found = _verdict(workspace, "file_write", workspace / name, workspace=workspace)
        assert found[0] is verdict, name


def test_a_command_that_writes_there_is_denied_and_one_that_may_asks(workspace: Path) -> None:
    generation = policy.load(workspace / "rules")
    facts = policy.Facts(workspace=str(workspace))
    for command, verdict in (
        ("cp a.txt rules/global.policy", Verdict.DENY),
        ("mv evil rules/sub", Verdict.DENY),
        ("echo x > rules/global.policy", Verdict.DENY),
        ("cp a.txt $X", Verdict.ASK),
        ("$X", Verdict.ASK),
        ("some-tool rules/global.policy", Verdict.DENY),
        ("some-tool $X", Verdict.ASK),
    ):
        call = policy.ToolCall(tool="bash_exec", input={"command": command})
        decision = generation.decide(call, facts=facts)
        assert (decision.verdict, decision.reasons[0].rule) == (verdict, "floor"), command
    call = policy.ToolCall(tool="bash_exec", input={"command": "cp a.txt b.txt"})
    assert generation.decide(call, facts=facts).verdict is Verdict.ALLOW

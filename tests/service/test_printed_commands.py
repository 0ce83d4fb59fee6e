"""Approvers and the record see the script that bash runs in place of the original one."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest

from policy import PermissionDenied, PolicyStore
from policy.approvals import Approved, ScriptedApprover, request_text
from policy.audit import MemorySink
from policy.service import build_tool_service

_RULES = """\
policy for every agent

default allow

ask bash_exec
deny bash_exec when runs "rm *"
"""
_HERE = "cat <<'E'  # a comment\n$x\nE"


async def _executed(command: str, tmp_path: Path) -> tuple[ScriptedApprover, MemorySink]:
    rules, workspace = tmp_path / "rules", tmp_path / "work"
    rules.mkdir()
    (rules / "a.policy").write_text(_RULES)
    (rules / "placet.toml").write_text('[sandbox]\ndriver = "off"\nrequired = false\n')
    workspace.mkdir()
    approver, sink = ScriptedApprover(Approved(by="ada")), MemorySink()
    service = build_tool_service(
        PolicyStore(rules), approver=approver, audit=sink, workspace=workspace
    )
    with suppress(PermissionDenied):
        await service.execute("bash_exec", {"command": command})
    return approver, sink


async def test_the_printed_form_is_shown_and_recorded_beside_the_original(tmp_path: Path) -> None:
    approver, sink = await _executed(_HERE, tmp_path)
    assert approver.requests[0].rewritten_script == "cat <<< '$x'"
    assert "  runs as: cat <<< '$x'\n" in request_text(approver.requests[0])
    record = sink.records[-1]
    assert record.outcome == "ok"
    assert record.final_input == {"command": _HERE}
    assert record.ran == "cat <<< '$x'"


@pytest.mark.parametrize("command", ['echo  "a b";', "echo 'a' ${x}\n", "echo a"])
async def test_another_spelling_is_not_worth_a_word(command: str, tmp_path: Path) -> None:
    approver, sink = await _executed(command, tmp_path)
    assert "runs as" not in request_text(approver.requests[0])
    assert sink.records[-1].ran is None


async def test_nothing_is_said_to_have_run_of_what_is_denied(tmp_path: Path) -> None:
    approver, sink = await _executed("rm a <<E\nb\nE", tmp_path)
    assert not approver.requests
    assert (sink.records[-1].outcome, sink.records[-1].ran) == ("denied", None)

"""The settings in `[approvals]` take effect in the service, unless its arguments override them."""

from __future__ import annotations

from pathlib import Path

import pytest

import policy
from policy.approvals import ApprovalGate, Approved, ScriptedApprover, SqliteApprovals
from policy.model import PermissionDenied
from tests.service.approvals_commands.desk import office

pytestmark = pytest.mark.people

POLICY = "policy for every agent\n\ndefault ask\n"


async def test_a_session_causes_only_so_many_questions(tmp_path: Path) -> None:
    place = office(tmp_path, POLICY, "[approvals]\nper_session = 1\n")
    store = policy.PolicyStore(place.rules)
    yes = ScriptedApprover(otherwise=Approved(by="ada"))
    service = policy.build_tool_service(store, approver=yes, workspace=place.work)
    assert (await service.execute("file_read", {"path": "a.txt"})).value == "a.txt"
    with pytest.raises(PermissionDenied, match="too many approval requests"):
        await service.execute("file_read", {"path": "b.txt"})
    more = policy.build_tool_service(store, approver=yes, workspace=place.work, asks_per_session=2)
    for name in ("a.txt", "b.txt"):
        assert (await more.execute("file_read", {"path": name})).value == name


async def test_a_question_waits_as_long_as_is_configured(tmp_path: Path) -> None:
    place = office(tmp_path, POLICY, '[approvals]\ntimeout = "1ms"\n')
    service = policy.build_tool_service(
        policy.PolicyStore(place.rules),
        approver=ApprovalGate(SqliteApprovals(":memory:")),
        workspace=place.work,
    )
    with pytest.raises(PermissionDenied, match="in time"):
        await service.execute("file_read", {"path": "a.txt"})

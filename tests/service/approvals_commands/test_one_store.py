"""A program and `placet approvals` use one file, and say which where they do not."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Any

import pytest

import policy
from policy.model import Caller
from policy.service import (
    ApprovalGate,
    Filed,
    GovernedService,
    Person,
    SqliteApprovals,
    approvals_of,
    build_tool_service,
)
from tests.service.approvals_commands.desk import SETTINGS, Office, asking, office

pytestmark = pytest.mark.people

RULES = """\
policy for every agent

default deny

delete: allow file_delete with approval remember 1h up to 3 times
"""
CALLER = Caller(agent="coder", session="s1")


async def waiting(gate: ApprovalGate) -> Filed:
    """Return the only pending request, as soon as there is one."""
    came = asyncio.Event()
    stop = gate.subscribe(lambda filed: came.set())
    if not await gate.pending():
        await came.wait()
    stop()
    (filed,) = await gate.pending()
    return filed


def service_of(made: Office, **more: Any) -> GovernedService:
    return build_tool_service(policy.PolicyStore(made.rules), workspace=made.work, **more)


@pytest.mark.parametrize("settings", ["", SETTINGS], ids=["default", "configured"])
async def test_people_answer_what_a_program_asks_in_the_store_of_the_policy(
    tmp_path: Path, settings: str, monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    made = office(tmp_path, RULES, settings)
    store = policy.PolicyStore(made.rules)
    gate = ApprovalGate(approvals_of(store), poll=0.01)
    service = build_tool_service(store, approver=gate, workspace=made.work)
    asked = asking(service, "file_delete", CALLER, path="a.txt")
    filed = await waiting(gate)
    listed = await asyncio.to_thread(made.placet, "list")
    assert filed.request.id[:8] in listed.out
    assert 'input path = "a.txt"' in listed.out
    answered = await asyncio.to_thread(made.placet, "approve", filed.request.id)
    assert answered.code == 0, answered.err
    assert not isinstance(await asked, policy.ToolError)
    # Standing approvals are in the same file, although the service was not told where.
    assert "as in" in (await asyncio.to_thread(made.placet, "grants")).out
    assert not caplog.records


async def test_a_program_with_another_store_says_which_file_people_would_read(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    made = office(tmp_path, RULES, SETTINGS)
    other = SqliteApprovals(tmp_path / "other.sqlite")
    with caplog.at_level(logging.WARNING):
        service_of(made, approver=ApprovalGate(other))
    (record,) = caplog.records
    for said in (tmp_path / "other.sqlite", made.rules, made.store, "approvals_of(store)"):
        assert str(said) in record.getMessage()
    empty = made.placet("list").out
    assert empty == f"no request is pending in {made.store}\n"


def test_no_warning_where_the_requests_are_in_memory(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    service_of(office(tmp_path, RULES), approver=ApprovalGate(SqliteApprovals(":memory:")))
    assert not caplog.records


async def test_a_gate_without_approvals_keeps_refusals_in_its_own_store(tmp_path: Path) -> None:
    made = office(tmp_path, RULES)
    file = SqliteApprovals(made.store)
    gate = ApprovalGate(file, poll=0.01)
    service = service_of(made, approver=gate)
    asked = asking(service, "file_delete", CALLER, path="a.txt")
    await gate.deny((await waiting(gate)).request.id, Person(id="ada"))
    assert isinstance(await asked, policy.PermissionDenied)
    restarted = service_of(made, approver=ApprovalGate(SqliteApprovals(made.store)))
    again = await asking(restarted, "file_delete", CALLER, path="a.txt")
    assert isinstance(again, policy.PermissionDenied)
    assert again.code == "approval-refused"


@pytest.mark.parametrize("ledger", [":memory:", "other.sqlite"])
def test_a_gate_with_another_store_than_the_service_is_refused_when_it_is_built(
    tmp_path: Path, ledger: str
) -> None:
    made = office(tmp_path, RULES)
    gate = ApprovalGate(SqliteApprovals(made.store))
    other = SqliteApprovals(ledger if ledger == ":memory:" else tmp_path / ledger)
    with pytest.raises(TypeError, match="one store for both"):
        service_of(made, approver=gate, approvals=other)


def test_a_gate_that_is_set_later_is_held_to_the_same(tmp_path: Path) -> None:
    made = office(tmp_path, RULES)
    service = service_of(made)
    with pytest.raises(TypeError, match="approver=ApprovalGate\\(approvals\\)"):
        service.set_approver(ApprovalGate(SqliteApprovals(made.store)))
    own = SqliteApprovals(made.store)
    service_of(made, approvals=own).set_approver(ApprovalGate(SqliteApprovals(made.store)))


def test_a_path_is_not_a_store_of_requests(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=r"SqliteApprovals\('a.sqlite'\)"):
        ApprovalGate("a.sqlite")  # type: ignore[arg-type]

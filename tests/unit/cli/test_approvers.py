"""Which approver answers asks, by the command line and the configuration."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path

import pytest

from policy.approvals import ApprovalGate, ApprovalRequest, Approved, Denied, SqliteApprovals
from policy.cli import person
from policy.cli.approvers import ApprovalMode, approval_mode
from policy.generation import ApprovalSettings
from policy.model import Caller


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(person, "_user", lambda: "ada")


def closed(found: ApprovalMode) -> ApprovalMode:
    if isinstance(found.ledger, SqliteApprovals):
        found.ledger.close()
    return found


@pytest.mark.parametrize(
    ("asked", "settings", "queues"),
    [
        (None, None, False),
        (None, ApprovalSettings(), True),
        ("queue", None, True),
        ("deny", ApprovalSettings(), False),
        ("terminal", ApprovalSettings(), False),
    ],
)
def test_questions_wait_where_that_was_said_or_configured(
    tmp_path: Path, asked: str | None, settings: ApprovalSettings | None, queues: bool
) -> None:
    found = closed(approval_mode(asked, None, policy=tmp_path, settings=lambda: settings))  # type: ignore[arg-type]
    assert isinstance(found.gate, ApprovalGate) is queues
    assert (found.store is not None and found.store.exists()) is queues
    assert ("placet approvals" in found.description) is queues
    assert (found.ask is None) is (found.description == "asks are denied")


async def test_who_answers_at_the_terminal_is_its_user_with_the_groups_of_the_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", StringIO("y\nno\n"))
    settings = ApprovalSettings()
    found = approval_mode("terminal", None, policy=tmp_path, settings=lambda: settings)
    assert found.ask is not None
    settings = ApprovalSettings(groups={"finance": ("ada",)})
    request = ApprovalRequest(
        id="a", tool="t", input={}, shown="{}", reasons=(), digest="sha256:a", caller=Caller()
    )
    assert await found.ask.ask(request) == Approved(by="ada", groups=("finance",), listed=True)
    assert await found.ask.ask(request) == Denied(by="ada")


async def test_a_server_that_begins_counts_its_questions_anew_and_forgets_no_refusal(
    tmp_path: Path,
) -> None:
    found = approval_mode("queue", None, policy=tmp_path, settings=lambda: None)
    assert isinstance(found.ledger, SqliteApprovals)
    async with found.ledger as ledger:
        assert await ledger.count("default", limit=1)
        assert await ledger.count("other", limit=1)
        await ledger.note_refusal("default", "sha256:1", now=datetime(2026, 1, 1, tzinfo=UTC))
        assert not await ledger.count("default", limit=1)
        await found.begin("default")
        assert await ledger.count("default", limit=1)
        assert not await ledger.count("other", limit=1)
        assert await ledger.refused("default", "sha256:1")

"""The call that approvers were shown is the call that runs: its input is read once."""

from __future__ import annotations

import uuid
from pathlib import Path

from pydantic import Field

from policy import PolicyStore
from policy.approvals import Approved, ScriptedApprover
from policy.audit import MemorySink
from policy.catalog import Arguments
from policy.service import build_tool_service
from policy.tools import tool

RULES = """
policy for every agent

default deny

open: allow open_case with approval
"""


class Case(Arguments):
    title: str
    id: str = Field(default_factory=lambda: str(uuid.uuid4()))


@tool
def open_case(args: Case) -> str:
    """Open a case."""
    return args.id


async def test_what_a_model_fills_in_differently_each_time_is_filled_in_once(
    tmp_path: Path,
) -> None:
    (tmp_path / "global.policy").write_text(RULES)
    approver, sink = ScriptedApprover(Approved(by="ada")), MemorySink()
    service = build_tool_service(
        PolicyStore(tmp_path), tools=[open_case], approver=approver, audit=sink
    )
    output = await service.execute("openCase", {"Title": "lost"})
    (request,) = approver.requests
    assert request.input == {"title": "lost", "id": output.value}
    (record,) = sink.records
    assert record.repairs == (
        "tool name `openCase` read as `open_case`",
        "`Title` read as `title`",
    )
    assert output.metadata.repairs == record.repairs

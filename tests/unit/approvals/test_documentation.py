"""The code in docs/tool-service.md runs as written."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from policy.approvals import ApprovalGate, ScriptedApprover
from policy.model import PermissionDenied, Verdict
from policy.service import build_tool_service
from policy.tools import builtin_handlers
from tests.unit.service.judges import FakeStore, always

ROOT = Path(__file__).parents[3]
BLOCKS = re.findall(r"```python\n(.*?)```", (ROOT / "docs/tool-service.md").read_text(), re.S)


def names_of(function: str) -> dict[str, Any]:
    """Return what the block that defines a function defines."""
    (block,) = [block for block in BLOCKS if f"def {function}(" in block]
    names: dict[str, Any] = {}
    exec(block, names)
    return names


def test_the_first_program_runs(tmp_path: Path) -> None:
    (tmp_path / "first.py").write_text(BLOCKS[0])
    done = subprocess.run(
        [sys.executable, tmp_path / "first.py"],
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "['file_list', 'file_read', 'file_write']"
    assert lines[1].startswith("('writes /")
    assert lines[2].startswith("hello GenerationId(number=1")
    assert lines[3] == "secrets stay put"
    assert lines[4] == "3 records"


async def test_the_parts_can_be_exchanged(tmp_path: Path) -> None:
    names = names_of("harden")
    service = build_tool_service(FakeStore(always(Verdict.ALLOW)), workspace=tmp_path)
    approver = ScriptedApprover()
    names["harden"](service, approver)
    output = await service.execute("bash_exec", {"command": "echo hi", "timeout": 50})
    assert output.metadata.rewritten
    with pytest.raises(PermissionDenied):
        await service.execute("file_delete", {"path": "x"})
    assert len(approver.requests) == 1


async def test_the_own_tool_works(tmp_path: Path) -> None:
    names = names_of("add_to")
    (tmp_path / "a.txt").write_text("a b a")
    service = build_tool_service(
        FakeStore(always(Verdict.ALLOW)), tools=builtin_handlers(), workspace=tmp_path
    )
    names["add_to"](service)
    output = await service.execute("count_words", {"path": "a.txt", "unique": True})
    assert output.value == {"words": 2}
    definition = service.describe("count_words")
    assert definition is not None
    assert list(definition.parameters["required"]) == ["path"]
    assert definition.llm_context == 'Examples:\n{"path":"a.txt"}'


async def test_requests_wait_at_a_gate_until_somebody_answers_them(tmp_path: Path) -> None:
    names = names_of("gated")
    (tmp_path / "old.txt").write_text("")
    service, gate = names["gated"](FakeStore(always(Verdict.ASK)), workspace=tmp_path)
    put = Put(gate)
    writing = asyncio.create_task(
        service.execute("file_write", {"path": "a.txt", "content": "hello"})
    )
    deleting = asyncio.create_task(service.execute("file_delete", {"path": "old.txt"}))
    await put.count(2)
    await names["answer_all"](gate)
    await writing
    with pytest.raises(PermissionDenied, match="keep it until the audit"):
        await deleting
    assert names_in(tmp_path) == ["a.txt", "old.txt"]


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


class Put:
    """Waits until requests are filed at a gate."""

    def __init__(self, gate: ApprovalGate) -> None:
        self._seen: asyncio.Queue[object] = asyncio.Queue()
        gate.subscribe(self._seen.put_nowait)

    async def count(self, many: int) -> None:
        for _ in range(many):
            await self._seen.get()

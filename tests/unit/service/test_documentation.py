"""The code in docs/tool-service.md runs as it stands."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from policy.errors import PermissionDenied
from policy.service import ScriptedApprover, build_tool_service, builtin_handlers
from policy.verdict import Verdict
from tests.unit.service.judges import FakeStore, always

ROOT = Path(__file__).parents[3]
BLOCKS = re.findall(r"```python\n(.*?)```", (ROOT / "docs/tool-service.md").read_text(), re.S)


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
    names: dict[str, Any] = {}
    exec(BLOCKS[1], names)

    service = build_tool_service(FakeStore(always(Verdict.ALLOW)), workspace=tmp_path)
    approver = ScriptedApprover()
    names["harden"](service, approver)
    output = await service.execute("bash_exec", {"command": "echo hi", "timeout": 50})
    assert output.metadata.rewritten
    with pytest.raises(PermissionDenied):
        await service.execute("file_delete", {"path": "x"})
    assert len(approver.requests) == 1


async def test_the_own_tool_works(tmp_path: Path) -> None:
    names: dict[str, Any] = {}
    exec(BLOCKS[2], names)

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

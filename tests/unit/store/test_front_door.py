"""`import policy`: cheap, complete, and enough to decide."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import policy

HEAVY = ("lark", "pydantic", "re2", "watchfiles", "jsonschema_rs", "mcp", "asyncio")


def test_importing_the_front_door_imports_nothing_heavy() -> None:
    code = f"import sys, policy; print([m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_deciding_needs_no_event_loop_and_no_service(tmp_path: Path) -> None:
    (tmp_path / "a.policy").write_text("policy for every agent\ndefault ask\n")
    call = policy.ToolCall(tool="file_read", input={"path": "/a"})
    assert policy.load(tmp_path).decide(call).verdict is policy.Verdict.ASK
    assert policy.load(tmp_path / "a.policy").decide(call).verdict == "ask"


@pytest.mark.parametrize("name", policy.__all__)
def test_every_promised_name_is_there(name: str) -> None:
    assert getattr(policy, name) is getattr(policy, name)
    assert name in dir(policy)


def test_another_name_is_an_error() -> None:
    name = "lod"
    with pytest.raises(AttributeError, match="no attribute 'lod'"):
        getattr(policy, name)

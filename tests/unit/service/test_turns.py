"""A large input lets other calls have a turn before it is judged, and before it is recorded."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

import policy
from policy.audit import MemorySink
from policy.service import tool


@pytest.mark.parametrize(("length", "turns"), [(10, []), (1_000_000, ["began", "ended"])])
async def test_others_have_a_turn_around_a_large_input(
    tmp_path: Path, length: int, turns: list[str]
) -> None:
    seen: list[str] = []
    used = asyncio.Event()

    @tool
    async def use(text: str) -> str:
        """Use a text."""
        used.set()
        return "used"

    async def other() -> None:
        seen.append("began")
        await used.wait()
        seen.append("ended")

    (tmp_path / "w").mkdir()
    rules = tmp_path / "rules"
    rules.mkdir()
    (rules / "global.policy").write_text("policy for every agent\n\ndefault allow\n")
    service = policy.build_tool_service(
        policy.PolicyStore(rules), tools=[use], workspace=str(tmp_path / "w"), audit=MemorySink()
    )
    beside = asyncio.create_task(other())
    await service.execute("use", {"text": "x " * length})
    assert seen == turns
    await beside

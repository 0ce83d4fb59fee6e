"""One caller holds all that it may have, and another one is served all the same."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

import policy
from policy.model import Caller, PermissionDenied
from policy.service import GovernedService, tool
from policy.service.sessions.memory_budgets import MemoryBudgets

PATIENCE = 60.0
RULES = """policy for every agent

default allow
mails: limit mail to 5 per week per input.to
"""


def service_of(folder: Path, *tools: object) -> GovernedService:
    for name in ("rules", "work"):
        (folder / name).mkdir()
    (folder / "rules" / "all.policy").write_text(RULES)
    store = policy.PolicyStore(folder / "rules")
    return policy.build_tool_service(store, tools=[*tools], workspace=folder / "work")  # type: ignore[list-item]


async def test_calls_that_block_leave_threads_for_others(tmp_path: Path) -> None:
    go = threading.Event()

    @tool
    def wait(long: bool) -> str:
        """Block, for long or not."""
        assert not long or go.wait(PATIENCE)
        return "done"

    service = service_of(tmp_path, wait)
    greedy = service.bound_to(Caller(user="greedy"))
    held = [asyncio.create_task(greedy.execute("wait", {"long": True})) for _ in range(16)]
    await asyncio.sleep(0)
    try:
        async with asyncio.timeout(PATIENCE):
            for user in ("ada", "bob"):
                other = service.bound_to(Caller(user=user))
                assert (await other.execute("wait", {"long": False})).value == "done"
        assert not any(task.done() for task in held)
    finally:
        go.set()
    assert {(await task).value for task in held} == {"done"}


async def test_budgets_of_one_caller_leave_some_for_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "policy.service.sessions.memory_log.MemoryBudgets", lambda: MemoryBudgets(most=64)
    )

    @tool
    async def mail(to: list[str]) -> str:
        """Send a mail."""
        return "sent"

    service = service_of(tmp_path, mail)
    greedy, ada = (service.bound_to(Caller(user=user)) for user in ("greedy", "ada"))
    first = [f"{number}@x.example" for number in range(32)]
    await greedy.execute("mail", {"to": first})
    with pytest.raises(PermissionDenied) as refused:
        await greedy.execute("mail", {"to": ["another@x.example"]})
    assert refused.value.code == "history-unavailable"
    assert (await ada.execute("mail", {"to": ["ada@x.example"]})).value == "sent"
    # What was counted is not forgotten for it.
    for _ in range(4):
        await greedy.execute("mail", {"to": first})
    with pytest.raises(PermissionDenied) as used:
        await greedy.execute("mail", {"to": first[:1]})
    assert used.value.code == "limit-reached"

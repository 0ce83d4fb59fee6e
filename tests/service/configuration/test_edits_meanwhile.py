"""While edits and calls run at once, one generation alone decides each call."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path

from policy import Generation, PermissionDenied, Reloaded, ToolCall, Verdict
from policy.approvals import ApprovalOutcome, ApprovalRequest, Approved
from tests.service.configuration.office import Office, tool

EDITS = 50
PER_EDIT = 4

# A rule of a file and a key of a table that must never be seen apart from their generation: the
# rule asks in every generation, and the key says which generation this is.
RULES = """\
policy for every agent

watched: ask work when agent.name == "watched" because "a person looks on"
"""
FILE = '[permissions.tools]\ndefault = "allow"\nwork = "allow"\n'


class LateAnswer:
    """Agrees once the edit under way is in force."""

    def __init__(self) -> None:
        self.published = asyncio.Event()

    async def ask(self, request: ApprovalRequest) -> ApprovalOutcome:
        await self.published.wait()
        return Approved(by="ann")


async def test_every_call_sees_filter_and_rules_of_one_generation(tmp_path: Path) -> None:
    office = Office(tmp_path, FILE, work := tool("work"), rules=RULES)
    office.service.set_approver(approver := LateAnswer())
    first = office.store.current
    assert first is not None
    generations: dict[str, Generation] = {first.id.digest: first}
    loop = asyncio.get_running_loop()

    def keep(outcome: Reloaded) -> None:
        assert outcome.generation is not None
        generations[outcome.generation.id.digest] = outcome.generation
        loop.call_soon_threadsafe(approver.published.set)

    office.store.subscribe(keep)
    outcomes: Counter[str] = Counter()

    async def call(number: int, *, at_the_swap: bool) -> None:
        if at_the_swap:
            await approver.published.wait()
        try:
            agent = "watched" if number % 2 else "free"
            await office.as_agent(agent).execute("work", {"n": number})
        except PermissionDenied:
            outcomes["denied"] += 1
        else:
            outcomes["ok"] += 1

    for number in range(EDITS):
        approver.published.clear()
        verdict = ("deny", "ask", "allow")[number % 3]
        await asyncio.gather(
            office.service.configure("permissions.tools.work", verdict),
            *(call(n, at_the_swap=n >= PER_EDIT // 2) for n in range(PER_EDIT)),
        )

    calls = [record for record in office.sink.records if record.asked_tool == "work"]
    edits = [record for record in office.sink.records if record.asked_tool == "placet:configure"]
    assert len(calls) == outcomes.total() == EDITS * PER_EDIT == 200
    assert [record.outcome for record in edits] == ["ok"] * EDITS
    assert work.calls == outcomes["ok"] > 0 < outcomes["denied"]
    assert len(generations) == 3
    for record in calls:
        assert record.generation is not None
        judge = generations[record.generation.digest]
        wanted = judge.decide(ToolCall(tool="work", input={"n": 0}), record.caller)
        if record.verdict is wanted.verdict:
            assert record.reasons == wanted.reasons
        else:
            # Somebody agreed to what the policy of that later moment denies.
            assert (record.verdict, record.outcome) == ("deny", "denied")
            assert record.code == "changed-meanwhile", record
        assert record.outcome == ("denied" if record.verdict is Verdict.DENY else "ok")


async def test_edits_at_once_over_one_service_all_land(tmp_path: Path) -> None:
    office = Office(tmp_path, FILE, tool("work"))
    names = [f"memory_{number}" for number in range(20)]
    await asyncio.gather(
        *(office.service.configure(f"permissions.tools.{name}", "ask") for name in names)
    )
    text = office.file.read_text("utf-8")
    assert text.startswith(FILE)
    assert sorted(text.removeprefix(FILE).splitlines()) == sorted(f'{n} = "ask"' for n in names)
    assert not office.store.status.stale

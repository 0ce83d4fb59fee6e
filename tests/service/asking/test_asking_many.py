"""Many calls that wait for approval, and requests that outlive the process that made them."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from policy.approvals import ApprovalGate, Person, SqliteApprovals
from policy.model import PermissionDenied
from tests.service.asking.stage import ANN, NO, Slow, Stage

FINANCE = 'pay-out: allow pay with approval by "finance"\n'
TWO = FINANCE.rstrip() + " two people\n"
ann, bob = (Person(id=name, groups=("finance",)) for name in ("ann", "bob"))


async def test_a_thousand_calls_that_wait_cost_no_thread_each(tmp_path: Path) -> None:
    slow = Slow()
    s = Stage(tmp_path, FINANCE, approver=slow, asks_per_session=2_000)
    before = threading.active_count()
    calls = [asyncio.ensure_future(s.call(n=n)) for n in range(1_000)]
    questions = [await slow.next() for _ in calls]
    assert threading.active_count() <= before + 1
    assert s.runs == 0
    for number, (_, answer) in enumerate(questions):
        answer.set_result(ANN if number % 2 else NO)
    ended = await asyncio.gather(*calls, return_exceptions=True)
    assert s.runs == 500
    assert sum(isinstance(one, PermissionDenied) for one in ended) == 500
    assert len(s.sink.records) == 1_000


@pytest.mark.long
async def test_a_thousand_calls_wait_at_a_gate_without_a_thread_each(tmp_path: Path) -> None:
    desk = SqliteApprovals(":memory:")
    gate = ApprovalGate(desk)
    s = Stage(tmp_path, FINANCE, approver=gate, ledger=desk, asks_per_session=2_000)
    gate_of_time = ApprovalGate(desk, clock=s.clock)
    s.service.set_approver(gate_of_time)
    before = threading.active_count()
    put = asyncio.Event()
    gate_of_time.subscribe(lambda filed: put.set())
    calls = [asyncio.ensure_future(s.call(n=n)) for n in range(1_000)]
    while len(await gate_of_time.pending()) < 1_000:
        put.clear()
        await put.wait()
    assert threading.active_count() <= before + 2
    assert await gate_of_time.deny_all("default", ann, "all of it") == 1_000
    ended = await asyncio.gather(*calls, return_exceptions=True)
    assert all(isinstance(one, PermissionDenied) for one in ended)
    assert s.runs == 0


async def _pending(gate: ApprovalGate) -> Any:
    """Return the one question that waits, once it does."""
    put = asyncio.Event()
    end = gate.subscribe(lambda filed: put.set())
    try:
        while not (found := await gate.pending()):
            put.clear()
            await put.wait()
    finally:
        end()
    return found[0]


async def test_two_people_at_a_gate_answer_one_question(tmp_path: Path) -> None:
    desk = SqliteApprovals(":memory:")
    s = Stage(tmp_path, TWO, ledger=desk)
    gate = ApprovalGate(desk, clock=s.clock)
    s.service.set_approver(gate)
    call = asyncio.ensure_future(s.call(n=1))
    filed = await _pending(gate)
    await gate.approve(filed.request.id, ann)
    assert not call.done()
    await gate.approve(filed.request.id, bob)
    await call
    assert s.runs == 1
    assert s.approvals == [
        ("approved", "ann", ("pay-out",)),
        ("approved", "bob", ("pay-out",)),
    ]


async def test_who_has_agreed_before_a_restart_need_not_again(tmp_path: Path) -> None:
    (tmp_path / "rules").mkdir()
    path = tmp_path / "approvals.db"
    first = Stage(tmp_path / "rules", TWO, ledger=SqliteApprovals(path))
    before = ApprovalGate(SqliteApprovals(path), clock=first.clock)
    first.service.set_approver(_Abandoned(before))
    call = asyncio.ensure_future(first.call(n=1))
    filed = await _pending(before)
    await before.approve(filed.request.id, ann)
    call.cancel()
    await asyncio.gather(call, return_exceptions=True)

    store = SqliteApprovals(path)
    again = Stage(tmp_path / "rules", TWO, ledger=store)
    gate = ApprovalGate(store, clock=again.clock)
    again.service.set_approver(gate)
    call = asyncio.ensure_future(again.call(n=1))
    taken = await _pending(gate)
    assert taken.request.id == filed.request.id
    await gate.approve(taken.request.id, bob)
    await call
    assert (first.runs, again.runs) == (0, 1)
    assert [by for _, by, _ in again.approvals] == ["ann", "bob"]


class _Abandoned:
    """A gate whose process dies: its question is not taken back."""

    def __init__(self, gate: ApprovalGate) -> None:
        self._gate = gate

    async def ask(self, request: Any) -> Any:
        return await asyncio.shield(asyncio.ensure_future(self._gate.ask(request)))


async def test_an_elevation_is_given_at_a_gate_too(tmp_path: Path) -> None:
    desk = SqliteApprovals(":memory:")
    s = Stage(tmp_path, FINANCE, ledger=desk)
    gate = ApprovalGate(desk, clock=s.clock)
    s.service.set_approver(gate)
    asked = asyncio.ensure_future(s.service.elevate(("pay",), seconds=60, times=2))
    filed = await _pending(gate)
    assert filed.request.kind == "elevation"
    await gate.approve(filed.request.id, ann)
    assert (await asked).people == (ann,)
    await s.call(n=1)
    await s.call(n=2)
    assert s.runs == 2


async def test_a_question_that_nobody_answers_in_time_denies(tmp_path: Path) -> None:
    desk = SqliteApprovals(":memory:")
    s = Stage(tmp_path, FINANCE, ledger=desk, approval_timeout=0.02)
    s.service.set_approver(ApprovalGate(desk, clock=s.clock))
    with pytest.raises(PermissionDenied) as caught:
        await s.call(n=1)
    assert caught.value.code == "approval-timeout"
    assert await desk.open(now=s.clock()) == ()

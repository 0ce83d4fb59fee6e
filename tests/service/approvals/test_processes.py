"""Processes that share one file of approvals: calls in one, approvers in another."""

from __future__ import annotations

import asyncio
import sys
import threading
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from policy.approvals import SqliteApprovals
from policy.model import PermissionDenied
from tests.examples import examples
from tests.preloaded import module
from tests.service.approvals.earlier_store import given
from tests.service.approvals.worker import ANN, NOW, stage

ROOT = Path(__file__).parents[3]
CALLS = max(100, examples(1_000))


def started(name: str, *arguments: str) -> list[str]:
    return [sys.executable, "-m", name, *arguments]


class Others:
    """The other processes of a test."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.here = folder / "here"
        self.here.mkdir()
        self.file = folder / "desk" / "approvals.db"
        self._started: list[Process] = []

    async def start(self, what: str, *, killed: bool = False) -> Process:
        """Start a process; one that will be killed is no preloaded one, but gone at once."""
        command = started if killed else module
        folder = self.folder / f"{what}-{len(self._started)}"
        folder.mkdir()
        process = await asyncio.create_subprocess_exec(
            *command("tests.service.approvals.worker", what, str(self.file), str(folder)),
            cwd=ROOT,
            stdout=PIPE,
        )
        self._started.append(process)
        return process

    async def run(self, what: str) -> str:
        """Return the last line of what a process says."""
        out, _ = await (await self.start(what)).communicate()
        return out.decode().splitlines()[-1]

    async def end(self) -> None:
        for process in self._started:
            if process.returncode is None:
                process.kill()
            await process.communicate()


async def line(process: Process) -> str:
    assert process.stdout is not None
    return (await process.stdout.readline()).decode().strip()


@pytest.fixture
async def others(tmp_path: Path) -> AsyncIterator[Others]:
    async with AsyncExitStack() as stack:
        made = Others(tmp_path)
        stack.push_async_callback(made.end)
        yield made


async def test_an_answer_given_in_another_process_lets_the_call_run(others: Others) -> None:
    async with SqliteApprovals(others.file) as desk:
        s, gate = stage(others.here, desk)
        put = asyncio.Event()
        gate.subscribe(lambda filed: put.set())
        task = asyncio.ensure_future(s.call(amount=3))
        await put.wait()
        assert await others.run("approve") == "answered"
        await task
        assert s.runs == 1
        assert s.approvals == [("approved", "ann", ("pay-out",))]


async def test_a_refusal_given_in_another_process_reaches_the_agent(others: Others) -> None:
    async with SqliteApprovals(others.file) as desk:
        s, gate = stage(others.here, desk)
        put = asyncio.Event()
        gate.subscribe(lambda filed: put.set())
        task = asyncio.ensure_future(s.call(amount=3))
        await put.wait()
        await others.run("deny")
        with pytest.raises(PermissionDenied, match="not today"):
            await task
        assert s.runs == 0


@pytest.mark.parametrize("answered", [True, False])
async def test_a_question_outlives_its_process(others: Others, answered: bool) -> None:
    caller = await others.start("call", killed=True)
    first = await line(caller)
    assert first.startswith("pending ")
    caller.kill()
    await caller.wait()
    async with SqliteApprovals(others.file) as desk:
        s, gate = stage(others.here, desk)
        [filed] = await gate.pending()
        assert f"pending {filed.request.id}" == first
        if answered:
            await others.run("approve")
            await s.call(amount=3)
        else:
            put = asyncio.Event()
            gate.subscribe(lambda filed: put.set())
            task = asyncio.ensure_future(s.call(amount=3))
            await put.wait()
            assert [one.request.id for one in await gate.pending()] == [filed.request.id]
            await gate.approve(filed.request.id, ANN)
            await task
        assert s.runs == 1
        # The answer served one execution: the next one asks again.
        put = asyncio.Event()
        gate.subscribe(lambda filed: put.set())
        task = asyncio.ensure_future(s.call(amount=3))
        await put.wait()
        assert await gate.deny_all("default", ANN) == 1
        with pytest.raises(PermissionDenied):
            await task
        assert s.runs == 1


async def test_two_processes_take_one_approval_once(others: Others) -> None:
    callers = [await others.start("call") for _ in range(2)]
    first = [await line(caller) for caller in callers]
    assert first[0] == first[1]
    await others.run("approve")
    async with SqliteApprovals(others.file) as desk:
        _, gate = stage(others.here, desk)
        told: list[str] = []
        refused = 0
        # Whoever did not get it asks for itself, and is told no.
        for caller in callers:
            while (said := await line(caller)) not in ("ran 1", "denied"):
                refused += await gate.deny_all("default", ANN)
            told.append(said)
        assert sorted(told) == ["denied", "ran 1"]
        assert refused == 1


async def test_no_use_comes_back_when_a_process_is_killed(others: Others) -> None:
    many = 100_000
    async with SqliteApprovals(others.file) as desk:
        await desk.give(given("g1", uses=many))
        process = await others.start("spend", killed=True)
        for _ in range(20):
            assert await line(process) == "used"
        process.kill()
        rest, _ = await process.communicate()
        told = 20 + rest.count(b"used\n")
        [grant] = await desk.standing(now=NOW)
        # What was reported is used; of what was under way at the end, one at most is used as well.
        assert grant.uses in (many - told, many - told - 1)
        assert await desk.spend(("g1",), now=NOW)


@pytest.mark.counted
async def test_a_thousand_calls_wait_on_a_file_with_one_thread(others: Others) -> None:
    async with SqliteApprovals(others.file) as desk:
        s, gate = stage(others.here, desk)
        before = threading.active_count()
        put: set[str] = set()
        all_put = asyncio.Event()

        def note(id: str) -> None:
            put.add(id)
            if len(put) == CALLS:
                all_put.set()

        gate.subscribe(lambda filed: note(filed.request.id))
        calls = [asyncio.ensure_future(s.call(amount=number)) for number in range(CALLS)]
        await all_put.wait()
        assert threading.active_count() <= before
        for filed in (await gate.pending())[:50]:
            await gate.approve(filed.request.id, ANN)
        assert await gate.deny_all("default", ANN, "stop") == CALLS - 50
        ended = await asyncio.gather(*calls, return_exceptions=True)
        assert sum(isinstance(one, PermissionDenied) for one in ended) == CALLS - 50
        assert s.runs == 50
        assert threading.active_count() <= before


async def test_a_call_that_is_cancelled_never_runs(others: Others) -> None:
    async with SqliteApprovals(others.file) as desk:
        s, gate = stage(others.here, desk)
        put = asyncio.Event()
        gate.subscribe(lambda filed: put.set())
        task = asyncio.ensure_future(s.call(amount=3))
        await put.wait()
        [filed] = await gate.pending()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        ended = await gate.get(filed.request.id)
        assert ended is not None
        assert ended.state == "cancelled"
        await others.run("approve")
        assert s.runs == 0

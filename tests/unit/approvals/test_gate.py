"""Calls that wait at the gate: their answers, the listeners, and the end of each request."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest

from policy.approvals import (
    AnswerRefused,
    ApprovalGate,
    ApprovalRequest,
    Approved,
    Denied,
    Filed,
    Person,
    RequestWithdrawn,
    StoreUnusable,
    TimedOut,
    request_key,
)
from policy.model import Caller
from tests.fakes import FakeClock
from tests.unit.approvals.desks import ANN, BOB, CYD, EVE, LATER, NOW, Store, a_request, asks


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(NOW.isoformat())


@pytest.fixture
def gate(store: Store, clock: FakeClock) -> ApprovalGate:
    return ApprovalGate(store, poll=0.001, clock=clock)


class Hearing:
    """Collects what a gate reports, until it has reported enough."""

    def __init__(self, gate: ApprovalGate) -> None:
        self.told: list[Filed] = []
        self._loop = asyncio.get_running_loop()
        self._news = asyncio.Event()
        gate.subscribe(self._hear)

    async def when(self, done: Callable[[list[Filed]], Any]) -> None:
        while not done(self.told):
            self._news.clear()
            await self._news.wait()

    async def pending(self, id: str) -> None:
        """Wait until a question was filed."""
        await self.when(lambda told: any(filed.request.id == id for filed in told))

    def _hear(self, filed: Filed) -> None:
        self._loop.call_soon_threadsafe(self._note, filed)

    def _note(self, filed: Filed) -> None:
        self.told.append(filed)
        self._news.set()


async def waiting(gate: ApprovalGate, *requests: ApprovalRequest) -> list[asyncio.Task[Any]]:
    """Ask, and return once every request is filed and waited for."""
    hearing = Hearing(gate)
    tasks = [asyncio.create_task(gate.ask(request)) for request in requests]
    for request in requests:
        await hearing.pending(request.id)
    return tasks


async def test_an_answer_reaches_the_call_that_waits(gate: ApprovalGate) -> None:
    [task] = await waiting(gate, a_request())
    assert [filed.request.id for filed in await gate.pending()] == ["q1"]
    assert (await gate.approve("q1", ANN)).state == "approved"
    assert await task == Approved(by="ann", groups=("finance",))
    taken = await gate.get("q1")
    assert taken is not None
    assert taken.state == "used"


async def test_two_people_are_both_in_the_answer(gate: ApprovalGate) -> None:
    [task] = await waiting(gate, a_request("q1", asks(two_people=True)))
    await gate.approve("q1", ANN)
    with pytest.raises(AnswerRefused, match="somebody else"):
        await gate.approve("q1", ANN)
    assert not task.done()
    await gate.approve("q1", CYD)
    assert await task == Approved(by="ann", groups=("finance",), with_=(CYD,))


async def test_a_refusal_and_its_words_reach_the_call(gate: ApprovalGate) -> None:
    [task] = await waiting(gate, a_request())
    await gate.deny("q1", EVE, "use the test account")
    assert await task == Denied(by="eve", reason="use the test account")


async def test_no_to_everything_of_a_session_tree(gate: ApprovalGate) -> None:
    child = Caller(session="child", parent=Caller(session="s"))
    tasks = await waiting(
        gate,
        a_request("q1", digest="1"),
        a_request("q2", digest="2", caller=child),
        a_request("q3", digest="3", caller=Caller(session="other")),
    )
    assert await gate.deny_all("s", EVE, "stop") == 2
    assert await asyncio.gather(*tasks[:2]) == [Denied(by="eve", reason="stop")] * 2
    assert [filed.request.id for filed in await gate.pending()] == ["q3"]
    assert await gate.pending("s") == ()
    await gate.deny("q3", EVE)
    assert await tasks[2] == Denied(by="eve")
    assert await gate.deny_all("s", EVE) == 0


async def test_a_question_that_is_withdrawn_is_no_refusal(gate: ApprovalGate) -> None:
    [task] = await waiting(gate, a_request())
    assert await gate.cancel("q1") is not None
    with pytest.raises(RequestWithdrawn):
        await task
    assert await gate.cancel("q1") is None


async def test_a_call_that_is_cancelled_takes_its_question_back(gate: ApprovalGate) -> None:
    [task] = await waiting(gate, a_request())
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await gate.pending() == ()
    with pytest.raises(AnswerRefused, match="has been withdrawn"):
        await gate.approve("q1", ANN)


async def test_a_call_out_of_time_leaves_an_expired_question(
    gate: ApprovalGate, clock: FakeClock
) -> None:
    [task] = await waiting(gate, a_request())
    clock.time = LATER
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    found = await gate.get("q1")
    assert found is not None
    assert found.state == "expired"
    with pytest.raises(AnswerRefused, match="has expired"):
        await gate.approve("q1", ANN)


async def test_the_gate_keeps_the_time_by_itself(gate: ApprovalGate) -> None:
    soon = NOW + timedelta(milliseconds=5)
    assert await gate.ask(a_request(expires=soon)) == TimedOut()
    found = await gate.get("q1")
    assert found is not None
    assert found.state == "expired"


async def test_a_call_that_comes_too_late_is_not_waited_for(gate: ApprovalGate) -> None:
    assert await gate.ask(a_request(expires=NOW)) == TimedOut()


async def test_an_approval_given_before_is_taken_at_once(store: Store, gate: ApprovalGate) -> None:
    request = a_request()
    await store.file(request, request_key(request), now=NOW)
    await store.agree("q1", BOB, now=NOW)
    assert await gate.ask(a_request("q2")) == Approved(by="bob", groups=BOB.groups)


async def test_an_answer_out_of_another_process_is_found(store: Store, gate: ApprovalGate) -> None:
    [task] = await waiting(gate, a_request())
    await store.agree("q1", ANN, now=NOW)
    assert await task == Approved(by="ann", groups=("finance",))


async def test_of_two_equal_calls_one_approval_runs_one(gate: ApprovalGate) -> None:
    hearing = Hearing(gate)
    tasks = {asyncio.create_task(gate.ask(a_request(f"q{number}"))) for number in range(2)}
    await hearing.when(len)
    first = hearing.told[0].request.id
    await gate.approve(first, ANN)
    done, rest = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    assert [task.result() for task in done] == [Approved(by="ann", groups=("finance",))]
    # The other one asks for itself.
    await hearing.when(lambda told: any(filed.request.id != first for filed in told))
    assert await gate.deny_all("s", EVE) == 1
    assert await rest.pop() == Denied(by="eve")


async def test_two_gates_on_one_desk_share_an_approval_out_once(
    store: Store, clock: FakeClock
) -> None:
    gates = [ApprovalGate(store, poll=0.001, clock=clock) for _ in range(2)]
    hearing = [Hearing(gate) for gate in gates]
    tasks = [
        asyncio.create_task(gate.ask(a_request(f"q{number}"))) for number, gate in enumerate(gates)
    ]
    for one in hearing:
        await one.when(len)
    first = hearing[0].told[0].request.id
    await gates[0].approve(first, ANN)
    done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    [left] = [number for number, task in enumerate(tasks) if task not in done]
    await hearing[left].when(lambda told: any(filed.request.id != first for filed in told))
    assert await gates[0].deny_all("s", EVE) == 1
    assert await tasks[left] == Denied(by="eve")


async def test_a_question_stays_while_one_of_its_calls_waits(gate: ApprovalGate) -> None:
    [first] = await waiting(gate, a_request("q1"))
    second = asyncio.create_task(gate.ask(a_request("q2")))
    # From its first step on it counts as one that asks.
    await asyncio.sleep(0)
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    assert [filed.request.id for filed in await gate.pending()] == ["q1"]
    await gate.approve("q1", ANN)
    assert isinstance(await second, Approved)


async def test_whoever_listens_hears_of_every_change_once(store: Store, gate: ApprovalGate) -> None:
    heard: list[tuple[str, str]] = []

    def listen(filed: Filed) -> None:
        heard.append((filed.request.id, filed.state))

    def fail(filed: Filed) -> None:
        raise ValueError(filed.key)

    gate.subscribe(fail)
    end = gate.subscribe(listen)
    [first] = await waiting(gate, a_request("q1", asks(two_people=True)))
    await gate.approve("q1", ANN)
    await store.agree("q1", CYD, now=NOW)
    assert isinstance(await first, Approved)
    assert heard == [("q1", s) for s in ("pending", "pending", "approved", "used")]
    end()
    [second] = await waiting(gate, a_request("q2"))
    await gate.deny("q2", EVE)
    await second
    assert len(heard) == 4


async def test_nothing_runs_while_nobody_waits(gate: ApprovalGate) -> None:
    before = asyncio.all_tasks()
    tasks = await waiting(gate, a_request("q1", digest="1"), a_request("q2", digest="2"))
    # One task polls the store for all of them.
    assert len(asyncio.all_tasks() - before - set(tasks)) == 1
    await gate.deny_all("s", EVE)
    await asyncio.gather(*tasks)
    for _ in range(3):
        await asyncio.sleep(0)
    assert asyncio.all_tasks() == before


async def test_a_gate_serves_calls_of_several_loops(gate: ApprovalGate) -> None:
    found: list[Any] = []
    hearing = Hearing(gate)
    thread = threading.Thread(target=lambda: found.append(asyncio.run(gate.ask(a_request()))))
    thread.start()
    await hearing.pending("q1")
    await gate.approve("q1", ANN)
    await asyncio.to_thread(thread.join)
    assert found == [Approved(by="ann", groups=("finance",))]


class Failing:
    """A desk that fails at some of what it is asked."""

    def __init__(self, desk: Store, *methods: str) -> None:
        self._desk = desk
        self._methods = methods
        self.failed = asyncio.Event()

    def __getattr__(self, name: str) -> Any:
        if name not in self._methods:
            return getattr(self._desk, name)

        async def fail(*args: object, **kwargs: object) -> None:
            self.failed.set()
            raise StoreUnusable("the disk is full")

        return fail


@pytest.mark.parametrize("method", ["revision", "file", "end"])
async def test_a_desk_that_fails_approves_nothing(
    store: Store, clock: FakeClock, method: str
) -> None:
    request = a_request()
    await store.file(request, request_key(request), now=NOW)
    await store.agree("q1", ANN, now=NOW)
    gate = ApprovalGate(Failing(store, method), clock=clock)
    with pytest.raises(StoreUnusable):
        await gate.ask(request)


async def test_answers_that_cannot_be_looked_up_are_looked_up_later(
    store: Store, clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    desk = Failing(store, "since")
    gate = ApprovalGate(desk, poll=0.001, clock=clock)
    [task] = await waiting(gate, a_request())
    await store.agree("q1", ANN, now=NOW)
    await desk.failed.wait()
    await asyncio.sleep(0)
    assert "cannot be read: the disk is full" in caplog.text
    assert not task.done()
    desk._methods = ()
    assert isinstance(await task, Approved)


class Lying:
    """A desk that says that nobody's approval is one."""

    def __init__(self, desk: Store) -> None:
        self._desk = desk

    def __getattr__(self, name: str) -> Any:
        return getattr(self._desk, name)

    async def end(self, id: str, state: str, *, now: datetime) -> Filed:
        return Filed(
            request=a_request(id, asks(groups=("legal",))), key="k", people=(ANN,), state="used"
        )


async def test_people_have_to_have_agreed_whatever_a_desk_says(
    store: Store, clock: FakeClock
) -> None:
    gate = ApprovalGate(Lying(store), clock=clock)
    [task] = await waiting(gate, a_request("q1"))
    await gate.approve("q1", ANN)
    with pytest.raises(StoreUnusable, match="is not"):
        await task


@pytest.mark.parametrize(
    "changed",
    [
        {"digest": "sha256:2"},
        {"kind": "elevation"},
        {"caller": Caller(session="t")},
        {"caller": Caller(session="s", agent="other")},
        {"caller": Caller(session="s", parent=Caller(session="s"))},
        {"reasons": (asks(digest="sha256:r"),)},
        {"reasons": (asks(groups=("legal",)),)},
        {"reasons": (asks(two_people=True),)},
        {"reasons": (asks(), asks("other"))},
    ],
)
def test_a_key_names_call_caller_and_what_asks(changed: dict[str, Any]) -> None:
    assert request_key(a_request(**changed)) != request_key(a_request())


def test_a_key_is_the_same_in_every_process() -> None:
    one, other = asks("a", digest="1"), asks("b", digest="2")
    moved = a_request("q2", other, one, expires=None, shown="", resources=("x",))
    assert request_key(a_request("q1", one, other)) == request_key(moved)


def test_people_are_no_part_of_a_key() -> None:
    assert Person(id="ann") != ANN
    assert request_key(a_request(asked_at=NOW)) == request_key(a_request(asked_at=LATER))

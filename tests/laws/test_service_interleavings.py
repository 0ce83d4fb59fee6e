"""Calls amid changes of everything: each ends once, is recorded once, and runs only if it may.

Tools come and go, rules are edited, filters exchanged, questions answered, refused, left open and
broken off, callers hang up: in whatever order, by whatever timing.
"""

from __future__ import annotations

import asyncio
import random
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policy import PolicyStore
from policy.approvals import ApprovalOutcome, ApprovalRequest, Approved, Denied, TimedOut
from policy.audit import MemorySink
from policy.model import ToolError, Verdict
from policy.service import (
    Allow,
    Deny,
    GovernedService,
    SessionEvent,
    ToolCallDenied,
    ToolCallFailed,
    ToolCallRequested,
    ToolEnded,
    ToolEvent,
    ToolResult,
    build_tool_service,
    invoke_with_session_trace,
)
from policy.tools import ExecutionContext
from tests.examples import examples
from tests.fakes import CountingHandler

TOOLS = ("one", "two", "three")
VERDICTS = ("allow", "ask", "deny")


def rules_of(verdicts: Mapping[str, str]) -> str:
    lines = ["policy for every agent", "default deny"]
    for tool, verdict in verdicts.items():
        if verdict != "deny":
            lines.append(f"{tool}-is-{verdict}: allow {tool}")
        if verdict == "ask":
            lines[-1] += " with approval"
    return "\n".join(lines) + "\n"


@dataclass
class Run:
    """What a handler saw when it was called."""

    call: str
    tool: str
    verdict: Verdict | None
    input: dict[str, Any]


class Questions:
    """An approver whose answers are given from outside, or never."""

    def __init__(self) -> None:
        self.open: list[tuple[ApprovalRequest, asyncio.Future[ApprovalOutcome]]] = []
        self.approved: Counter[str] = Counter()

    async def ask(self, request: ApprovalRequest) -> ApprovalOutcome:
        answer: asyncio.Future[ApprovalOutcome] = asyncio.get_running_loop().create_future()
        self.open.append((request, answer))
        return await answer

    def answer(self, place: int, outcome: ApprovalOutcome | Exception) -> None:
        if not self.open:
            return
        request, answer = self.open.pop(place % len(self.open))
        if answer.done():
            return
        if isinstance(outcome, Exception):
            answer.set_exception(outcome)
            return
        if isinstance(outcome, Approved):
            self.approved[request.digest] += 1
        answer.set_result(outcome)


class Heard:
    """What a session hears of one call."""

    def __init__(self) -> None:
        self.events: list[SessionEvent] = []

    def emit(self, event: SessionEvent) -> None:
        self.events.append(event)


@dataclass
class World:
    """One service, everything that changes it, and everything that can be seen of it."""

    folder: Path
    store: PolicyStore
    service: GovernedService
    questions: Questions
    sink: MemorySink
    runs: list[Run]
    ended: Counter[str] = field(default_factory=Counter)
    calls: list[asyncio.Task[str]] = field(default_factory=list)
    traces: list[Heard] = field(default_factory=list)

    def listen(self, event: ToolEvent) -> None:
        if isinstance(event, ToolEnded):
            self.ended[event.call_id] += 1

    def call(self, tool: str, number: int) -> None:
        self.calls.append(asyncio.ensure_future(self._call(tool, number)))

    async def _call(self, tool: str, number: int) -> str:
        session = f"session-{number % 7}"
        # Nobody else hears of this call, so what is heard is of this one.
        heard = Heard()
        self.traces.append(heard)
        try:
            await invoke_with_session_trace(
                self.service, heard, tool, {"n": number}, session=session
            )
        except ToolError as error:
            return error.kind
        return "ok"

    def hang_up(self, place: int) -> None:
        if self.calls:
            self.calls[place % len(self.calls)].cancel()

    def register(self, tool: str) -> None:
        if self.service.registry.get(tool) is None:
            self.service.register(handler(tool, self.runs))

    def unregister(self, tool: str) -> None:
        self.service.unregister(tool)

    def edit(self, verdicts: Mapping[str, str]) -> None:
        (self.folder / "global.policy").write_text(rules_of(verdicts))
        self.store.reload()

    def filter(self, name: str) -> None:
        self.service.set_smart_filter(_Without(name) if name else None)

    async def finish(self) -> list[str]:
        """Answer what is open until every call has ended; return how each did."""
        for _ in range(10_000):
            if all(call.done() for call in self.calls):
                break
            while self.questions.open:
                self.questions.answer(0, Denied(by="the end"))
            await asyncio.sleep(0)
        found = await asyncio.gather(*self.calls, return_exceptions=True)
        return ["cancelled" if isinstance(f, asyncio.CancelledError) else str(f) for f in found]

    def check(self, outcomes: list[str]) -> None:
        """Hold everything that was seen against what must be."""
        records = {record.id: record for record in self.sink.records}
        # A call that was cancelled before it began has not arrived.
        arrived = len(self.sink.records)
        unborn = len(outcomes) - arrived
        assert 0 <= unborn <= outcomes.count("cancelled")
        assert len(records) == arrived
        assert self.ended == Counter(dict.fromkeys(records, 1))
        # Requested, then one event of how it ended: never none, and never two.
        ends = (ToolResult, ToolCallDenied, ToolCallFailed)
        for heard in self.traces:
            first, last = heard.events
            assert isinstance(first, ToolCallRequested)
            assert isinstance(last, ends)
        kinds = Counter(_KIND.get(record.outcome, record.outcome) for record in records.values())
        assert kinds + Counter({"cancelled": unborn}) == Counter(outcomes)
        used: Counter[str] = Counter()
        for run in self.runs:
            record = records[run.call]
            assert run.input == {"n": record.input["n"]}  # type: ignore[index, call-overload]
            assert record.tool == run.tool
            if run.verdict is Verdict.ASK:
                given = [a for a in record.approvals if a.outcome == "approved"]
                assert given, record
                used[given[-1].digest] += 1
            else:
                assert run.verdict is Verdict.ALLOW
        assert Counter(run.call for run in self.runs) == Counter({run.call for run in self.runs})
        assert all(self.questions.approved[digest] >= times for digest, times in used.items())
        # Whatever reports success has run, and nothing else than its tool.
        ran = {run.call for run in self.runs}
        assert {record.id for record in records.values() if record.outcome == "ok"} <= ran
        assert not {r.id for r in records.values() if r.outcome in ("denied", "not-found")} & ran


_KIND = {
    "denied": "permission-denied",
    "refused": "validation-failed",
    "failed": "execution",
}


class _Without:
    def __init__(self, name: str) -> None:
        self.name = name

    def classify(self, name: str, input: Mapping[str, Any]) -> Allow | Deny:
        return Deny("not this one") if name == self.name else Allow()


def handler(tool: str, runs: list[Run]) -> CountingHandler:
    async def body(input: dict[str, Any], ctx: ExecutionContext) -> Any:
        verdict = None if ctx.decision is None else ctx.decision.verdict
        runs.append(Run(call=ctx.call_id, tool=tool, verdict=verdict, input=dict(input)))
        for _ in range(input["n"] % 4):
            await asyncio.sleep(0)
        if input["n"] % 11 == 0:
            raise RuntimeError("it broke")
        return input["n"]

    return CountingHandler(tool, body)


@contextmanager
def world(verdicts: Mapping[str, str]) -> Iterator[World]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "global.policy").write_text(rules_of(verdicts))
        runs: list[Run] = []
        handlers = [handler(tool, runs) for tool in TOOLS]
        store = PolicyStore(folder)
        questions, sink = Questions(), MemorySink()
        service = build_tool_service(
            store, tools=handlers, approver=questions, audit=sink, asks_per_session=1_000_000
        )
        made = World(folder, store, service, questions, sink, runs)
        service.subscribe(made.listen)
        assert store.current is not None, store.status
        yield made


TOOL = st.sampled_from(TOOLS)
PLACE = st.integers(0, 200)
SAYING = st.fixed_dictionaries({tool: st.sampled_from(VERDICTS) for tool in TOOLS})
ANSWERS = st.sampled_from(
    [
        Approved(by="ada"),
        Approved(by="ada"),
        Denied(by="ada", reason="not now"),
        TimedOut(),
        RuntimeError("nobody there"),
    ]
)
ACTS = st.one_of(
    st.tuples(st.just("call"), TOOL, PLACE),
    st.tuples(st.just("call"), TOOL, PLACE),
    st.tuples(st.just("call"), TOOL, PLACE),
    st.tuples(st.just("answer"), PLACE, ANSWERS),
    st.tuples(st.just("answer"), PLACE, ANSWERS),
    st.tuples(st.just("hang_up"), PLACE),
    st.tuples(st.just("register"), TOOL),
    st.tuples(st.just("unregister"), TOOL),
    st.tuples(st.just("edit"), SAYING),
    st.tuples(st.just("filter"), st.sampled_from(["", *TOOLS])),
    st.tuples(st.just("wait"), st.integers(1, 6)),
)


@settings(max_examples=examples(60))
@given(SAYING, st.lists(ACTS, max_size=60))
def test_any_interleaving_leaves_every_call_with_one_end_and_one_record(
    verdicts: dict[str, str], acts: list[tuple[Any, ...]]
) -> None:
    async def play() -> None:
        with world(verdicts) as w:
            for act, *details in acts:
                await _played(w, act, details)
            w.check(await w.finish())

    asyncio.run(play())


async def _played(w: World, act: str, details: list[Any]) -> None:
    if act == "wait":
        for _ in range(details[0]):
            await asyncio.sleep(0)
    elif act == "answer":
        w.questions.answer(*details)
    else:
        getattr(w, act)(*details)


@pytest.mark.parametrize("seed", range(3))
def test_a_thousand_calls_among_changes_end_once_each_and_cost_no_thread(seed: int) -> None:
    chance = random.Random(seed)

    async def play() -> None:
        with world({"one": "allow", "two": "ask", "three": "ask"}) as w:
            before = threading.active_count()
            for number in range(1_000):
                w.call(chance.choice(TOOLS), number)
                if number % 97 == 0:
                    w.edit({tool: chance.choice(VERDICTS) for tool in TOOLS})
                if number % 41 == 0:
                    tool = chance.choice(TOOLS)
                    w.unregister(tool) if chance.random() < 0.5 else w.register(tool)
                if number % 13 == 0:
                    w.hang_up(chance.randrange(1_000))
                if chance.random() < 0.3:
                    w.questions.answer(chance.randrange(1_000), Approved(by="ada"))
                if chance.random() < 0.2:
                    await asyncio.sleep(0)
            assert threading.active_count() == before
            outcomes = await w.finish()
            w.check(outcomes)
            assert len(outcomes) == 1_000
            assert {"ok", "permission-denied", "cancelled"} <= set(outcomes)

    asyncio.run(play())

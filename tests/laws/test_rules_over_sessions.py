"""Rules over sessions hold in any order of releases, ends, answers, edits and cancelled calls.

What a log was told, in its order, is held against what the rules promise: whoever read what is
labelled, or may have, sends nothing any more, and a limit is never exceeded.
"""

from __future__ import annotations

import asyncio
import random
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import policy
from policy import PolicyStore
from policy.approvals import ApprovalOutcome, ApprovalRequest, Approved, Denied
from policy.generation import Generation
from policy.model import (
    Balance,
    CalledTool,
    Caller,
    CallOutput,
    Charge,
    Decision,
    Facts,
    History,
    Outcome,
    ReleasedCall,
    Resolvers,
    ToolCall,
    ToolError,
    UserSaid,
    freeze,
)
from policy.service import (
    GovernedService,
    MemorySessionLog,
    RedisSessionLog,
    SessionLog,
    SqliteSessionLog,
    build_tool_service,
    tool,
)
from tests.examples import examples
from tests.redis_server import MISSING, RedisServer

RULES = """\
policy for every agent

default deny
label tainted on results of fetch when result.bad == true
fetch: allow fetch
send: allow send
pay: allow pay with approval
guard: deny send, pay after tainted
few: limit send, pay to {most} per session
"""
MOST = 5
ROOTS = tuple("abcdefgh")
CALLERS = tuple(
    caller
    for name in ROOTS
    for root in [Caller(session=name, user="u")]
    for caller in (
        root,
        Caller(session=f"{name}-sub", user="u", agent="helper", parent=root),
        # The same session, used later without its parent.
        Caller(session=f"{name}-sub", user="u", agent="helper"),
    )
)


@dataclass(eq=False)
class Told:
    """One call that a log was told of: how it ended, and what it returned."""

    tree: str
    tool: str
    ends: int = 0
    outcome: Outcome | None = None
    output: CallOutput | None = None


@dataclass
class RecordingLog:
    """A log that also notes what it was told, in the order in which that took effect.

    `meanwhile` are calls that another process makes, each right after somebody has read what it
    changes.
    """

    log: SessionLog
    told: list[tuple[str, Told]] = field(default_factory=list)
    calls: dict[int, tuple[Any, Told]] = field(default_factory=dict)
    meanwhile: list[str] = field(default_factory=list)

    def history(self, caller: Caller) -> History:
        found = self.log.history(caller)
        if "fetch" in self.meanwhile:
            self.meanwhile.remove("fetch")
            self._elsewhere("fetch", caller, CallOutput(result=freeze({"bad": True})))
        return found

    def balance(self, caller: Caller, charge: Charge, now: datetime | None) -> Balance:
        found = self.log.balance(caller, charge, now)
        tree = caller.session[:1]
        # By the rules, it sends nothing either once something was read.
        has_read = any((one.tree, one.tool) == (tree, "fetch") for _, one in self.told)
        if "send" in self.meanwhile and not has_read:
            self.meanwhile.remove("send")
            self._elsewhere("send", caller, CallOutput(result="sent"), charges=(charge,))
        return found

    def _elsewhere(
        self, name: str, caller: Caller, output: CallOutput, charges: tuple[Charge, ...] = ()
    ) -> None:
        called = CalledTool(name=name, kind="host")
        call = ReleasedCall(tool=called, at=datetime.now(UTC), input=freeze({"n": 1}))  # type: ignore[arg-type]
        release = self.release(caller, call, judged_by=None, charges=charges)
        if release is not None:
            self.finish(release, "ok", output)

    def release(
        self,
        caller: Caller,
        call: ReleasedCall,
        *,
        judged_by: History | None,
        charges: tuple[Charge, ...] = (),
    ) -> Any:
        release = self.log.release(caller, call, judged_by=judged_by, charges=charges)
        if release is None:
            return None
        one = Told(tree=caller.session[:1], tool=call.tool.name)
        self.told.append(("released", one))
        self.calls[len(self.calls)] = (release, one)
        return len(self.calls) - 1

    def finish(
        self, release: int, outcome: Outcome | None, output: CallOutput | None = None
    ) -> None:
        inner, one = self.calls[release]
        self.log.finish(inner, outcome, output)
        one.ends, one.outcome, one.output = one.ends + 1, outcome, output
        self.told.append(("ended", one))

    def hear(self, caller: Caller, texts: Sequence[str], *, missed: bool) -> bool:
        return self.log.hear(caller, texts, missed=missed)

    def said(self, caller: Caller) -> UserSaid | str:
        return self.log.said(caller)

    def check(self) -> None:
        """Hold what was told against the rules."""
        read: dict[str, list[Told]] = defaultdict(list)
        spent: dict[str, int] = defaultdict(int)
        over: set[Told] = set()
        for what, one in self.told:
            if what == "ended":
                over.add(one)
                if one.outcome is None and one.tool != "fetch":
                    spent[one.tree] -= 1
                continue
            if one.tool == "fetch":
                read[one.tree].append(one)
                continue
            spent[one.tree] += 1
            assert spent[one.tree] <= MOST
            for earlier in read[one.tree]:
                assert earlier in over, "it was released while what may be labelled was read"
                if earlier.outcome is not None:
                    assert earlier.outcome == "ok"
                    assert earlier.output is not None and earlier.output.result["bad"] is False
        assert all(one.ends == 1 for _, one in self.told)


@contextmanager
def memory_log() -> Iterator[SessionLog]:
    yield MemorySessionLog()


@contextmanager
def file_log() -> Iterator[SessionLog]:
    with (
        tempfile.TemporaryDirectory() as folder,
        closing(SqliteSessionLog(Path(folder) / "history.sqlite")) as log,
    ):
        yield log


class Answering:
    """Answers requests at once, later, or never, as it is told."""

    def __init__(self) -> None:
        self.open: list[asyncio.Future[ApprovalOutcome]] = []

    async def ask(self, request: ApprovalRequest) -> ApprovalOutcome:
        answer: asyncio.Future[ApprovalOutcome] = asyncio.get_running_loop().create_future()
        self.open.append(answer)
        return await answer

    def answer(self, *, place: int, approves: bool) -> None:
        if self.open:
            one = self.open.pop(place % len(self.open))
            if not one.done():
                one.set_result(Approved(by="ada") if approves else Denied(by="ada"))


@tool
async def fetch(n: int) -> dict[str, Any]:
    """Read something."""
    for _ in range(n % 5):
        await asyncio.sleep(0)
    if n % 7 == 6:
        raise RuntimeError("it broke")
    return {"bad": n % 3 == 0, "n": n}


@tool
async def send(n: int) -> str:
    """Send something."""
    for _ in range(n % 3):
        await asyncio.sleep(0)
    return "sent"


@tool
async def pay(n: int) -> str:
    """Pay something."""
    await asyncio.sleep(0)
    if n % 4 == 0:
        raise RuntimeError("it broke")
    return "paid"


@dataclass
class World:
    """A service over one log, and everything that happens to it."""

    folder: Path
    store: PolicyStore
    service: GovernedService
    log: RecordingLog
    people: Answering
    calls: list[asyncio.Task[str]] = field(default_factory=list)

    def call(self, name: str, place: int, n: int) -> None:
        caller = CALLERS[place % len(CALLERS)]
        self.calls.append(asyncio.ensure_future(self._call(name, caller, n)))

    async def _call(self, name: str, caller: Caller, n: int) -> str:
        try:
            await self.service.bound_to(caller).execute(name, {"n": n})
        except ToolError as error:
            return error.kind
        return "ok"

    def hang_up(self, place: int) -> None:
        if self.calls:
            self.calls[place % len(self.calls)].cancel()

    def meanwhile(self, name: str) -> None:
        self.log.meanwhile.append(name)

    def edit(self, name: str) -> None:
        text = RULES.format(most=MOST).replace("few:", f"{name}:").replace("guard:", f"no-{name}:")
        (self.folder / "global.policy").write_text(text)
        self.store.reload()

    async def finish(self) -> None:
        for _ in range(10_000):
            if all(call.done() for call in self.calls):
                break
            while self.people.open:
                self.people.answer(place=0, approves=True)
            await asyncio.sleep(0)
        await asyncio.gather(*self.calls, return_exceptions=True)
        self.log.check()


@contextmanager
def world(kept: SessionLog) -> Iterator[World]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "global.policy").write_text(RULES.format(most=MOST))
        store, people, log = PolicyStore(folder), Answering(), RecordingLog(kept)
        for caller in CALLERS:
            # The trees are known before a session is used without its parent.
            log.history(caller)
        service = build_tool_service(
            store,
            tools=[fetch, send, pay],
            approver=people,
            sessions=log,
            asks_per_session=1_000_000,
        )
        yield World(folder, store, service, log, people)


async def played(w: World, acts: Sequence[tuple[Any, ...]]) -> None:
    for act, *details in acts:
        if act == "wait":
            for _ in range(details[0]):
                await asyncio.sleep(0)
        elif act == "answer":
            w.people.answer(place=details[0], approves=details[1])
        else:
            getattr(w, act)(*details)
    await w.finish()


PLACE = st.integers(0, 20)
# Most calls are of one tree, so that they meet.
WHO = st.sampled_from((0, 0, 1, 2, 3))
CALL = st.tuples(st.just("call"), st.sampled_from(("fetch", "send", "send", "pay")), WHO, PLACE)
ACTS = st.one_of(
    CALL,
    CALL,
    CALL,
    st.tuples(st.just("answer"), PLACE, st.booleans()),
    st.tuples(st.just("hang_up"), PLACE),
    st.tuples(st.just("edit"), st.sampled_from(("few", "some"))),
    st.tuples(st.just("meanwhile"), st.sampled_from(("fetch", "send", "send"))),
    st.tuples(st.just("wait"), st.integers(1, 8)),
)


@pytest.mark.parametrize("opened", [memory_log, file_log])
def test_in_any_order_nothing_is_sent_after_a_label_and_no_limit_is_exceeded(
    opened: Callable[[], Any],
) -> None:
    @settings(max_examples=examples(100), deadline=None)
    @given(st.lists(ACTS, min_size=5, max_size=40))
    def law(acts: list[tuple[Any, ...]]) -> None:
        with opened() as kept, world(kept) as w:
            asyncio.run(played(w, acts))

    law()


@pytest.mark.parametrize("store", ["memory", "sqlite", "redis"])
def test_two_hundred_calls_among_everything_keep_to_the_rules(store: str) -> None:
    chance = random.Random(store)
    acts: list[tuple[Any, ...]] = []
    for number in range(200):
        name = chance.choice(("send", "send", "send", "pay", "pay", "fetch"))
        acts.append(("call", name, chance.randrange(len(CALLERS)), chance.randrange(1, 100)))
        if number % 17 == 0:
            acts.append(("hang_up", chance.randrange(200)))
        if number % 61 == 0:
            acts.append(("edit", chance.choice(("few", "some"))))
        if number % 4 == 0:
            acts.append(("meanwhile", chance.choice(("send", "send", "fetch"))))
        if chance.random() < 0.4:
            acts.append(("answer", chance.randrange(100), chance.random() < 0.8))
        if chance.random() < 0.3:
            acts.append(("wait", chance.randrange(1, 6)))
    with ExitStack() as opened:
        kept = opened.enter_context(memory_log() if store == "memory" else file_log())
        if store == "redis":
            if MISSING:
                pytest.skip(MISSING)
            server = opened.enter_context(closing(RedisServer()))
            kept = opened.enter_context(closing(RedisSessionLog(server.url)))
        w = opened.enter_context(world(kept))
        asyncio.run(played(w, acts))
        ran = [one.tree for what, one in w.log.told if what == "released" and one.tool != "fetch"]
        # Some limit was reached, and other trees were stopped by what they had read.
        assert MOST in Counter(ran).values()
        assert {"fetch"} < {one.tool for _, one in w.log.told}


# ------------------------------------------------------------------ replaying

NOON = datetime(2026, 11, 25, 12, 0, tzinfo=UTC)
STEPS = st.lists(
    st.tuples(
        st.sampled_from(("fetch", "send", "pay")),
        st.sampled_from(CALLERS),
        st.sampled_from(("ok", "ok", "ok", "failed", "cancelled", "running", None)),
        st.booleans(),
    ),
    max_size=14,
)


@pytest.fixture(scope="module")
def generation(tmp_path_factory: pytest.TempPathFactory) -> Generation:
    folder = tmp_path_factory.mktemp("rules")
    (folder / "global.policy").write_text(RULES.format(most=3))
    names = '{"name": "fetch"}, {"name": "send"}, {"name": "pay"}'
    (folder / "tools.json").write_text(f"[{names}]")
    (folder / "placet.toml").write_text('[catalogue]\nfiles = ["tools.json"]\n')
    return policy.load(folder)


def replayed(
    generation: Generation,
    steps: Sequence[tuple[str, Caller, Outcome | None, bool]],
    log_for: Callable[[int], SessionLog],
) -> list[Decision]:
    """Decide and note call after call; return every decision."""
    decisions: list[Decision] = []
    for number, (name, caller, outcome, bad) in enumerate(steps):
        log, now = log_for(number), NOON + timedelta(minutes=number)

        def left(
            charge: Charge, at: datetime | None, log: SessionLog = log, caller: Caller = caller
        ) -> Balance:
            return log.balance(caller, charge, at)

        history = log.history(caller)
        facts = Facts(now=now, history=history, resolvers=Resolvers(balance=left))
        call = ToolCall(tool=name, input=freeze({"n": number}))  # type: ignore[arg-type]
        found = generation.decide(call, caller, facts=facts)
        decisions.append(found)
        if str(found.verdict) == "deny":
            continue
        released = ReleasedCall(
            tool=CalledTool(name=name, kind="host"), at=now, input=call.input, id=str(number)
        )
        release = log.release(caller, released, judged_by=history, charges=found.charges)
        assert release is not None
        if outcome != "running":
            log.finish(release, outcome, CallOutput(result=freeze({"bad": bad})))
    return decisions


@settings(max_examples=examples(60), deadline=None)
@given(STEPS)
def test_a_log_that_is_replayed_decides_the_same_in_every_store(
    generation: Generation, steps: list[tuple[str, Caller, Outcome | None, bool]]
) -> None:
    memory = MemorySessionLog()
    found = replayed(generation, steps, lambda _: memory)
    with tempfile.TemporaryDirectory() as folder, ExitStack() as opened:

        def opened_anew(_: int) -> SessionLog:
            log = SqliteSessionLog(Path(folder) / "history.sqlite")
            return opened.enter_context(closing(log))

        again = replayed(generation, steps, opened_anew)
    assert again == found
    assert [repr(one) for one in again] == [repr(one) for one in found]

"""A state machine of calls, answers, edits, elevations and time: only approved calls run.

The model keeps books of its own: who has agreed to what for which call, and what that left for
later ones. A handler may only run where the books say so, and every charge has to agree with them.
"""

from __future__ import annotations

import asyncio
import tempfile
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from policy import Caller
from policy.approvals import ApprovalOutcome, ApprovalRequest, Approved, Denied, TimedOut
from policy.model import PermissionDenied
from policy.tools import ExecutionContext
from tests.examples import examples
from tests.fakes import CountingHandler
from tests.service.asking.stage import ANN, BOB, CYD, EVE, Stage


@dataclass(frozen=True)
class Asks:
    """One rule that asks, as the model knows it."""

    name: str
    groups: tuple[str, ...] = ()
    two: bool = False
    minutes: int | None = None
    by_name: bool = False
    times: int = 1

    @property
    def text(self) -> str:
        parts = [f"{self.name}: ask pay"]
        if self.groups:
            parts.append("by " + ", ".join(f'"{group}"' for group in self.groups))
        if self.two:
            parts.append("two people")
        if self.times > 1:
            span = "session" if self.minutes is None else f"{self.minutes}m"
            name = " for input.to" if self.by_name else ""
            parts.append(f"remember {span}{name} up to {self.times} times")
        return " ".join(parts)

    def answered_by(self, people: frozenset[str]) -> bool:
        able = {person for person in people if set(GROUPS[person]) & set(self.groups)}
        able = able if self.groups else set(people)
        if not self.two:
            return bool(able)
        if len(self.groups) < 2:
            return len(able) >= 2
        first, second = self.groups
        return any(first in GROUPS[a] and second in GROUPS[b] for a in able for b in able if a != b)


PEOPLE = {one.by: one for one in (ANN, BOB, CYD, EVE)}
GROUPS = {name: one.groups for name, one in PEOPLE.items()}

POLICIES: tuple[tuple[str, tuple[Asks, ...]], ...] = (
    ("out: allow pay\n", ()),
    ("out: allow pay\n", (Asks("plain"),)),
    ("out: allow pay\n", (Asks("money", ("finance",), minutes=60, times=3),)),
    (
        "out: allow pay\n",
        (Asks("money", ("finance",), minutes=60, times=3), Asks("law", ("legal",))),
    ),
    ("out: allow pay\n", (Asks("law", ("legal",), by_name=True, times=2),)),
    ("out: allow pay\n", (Asks("both", ("finance", "legal"), two=True, minutes=30, times=2),)),
    ("out: allow pay\nno: deny pay\n", (Asks("plain"),)),
)
CALLERS = (
    Caller(session="s1"),
    Caller(session="s2"),
    Caller(agent="sub", session="s3", parent=Caller(session="s1")),
)
INPUTS: tuple[dict[str, Any], ...] = ({"to": "a", "n": 1}, {"to": "a", "n": 2}, {"to": "b"}, {})


@dataclass
class Credit:
    """What is left of an approval, in the books of the model."""

    kind: str
    caller: int
    people: frozenset[str]
    left: int
    given: datetime
    ends: datetime | None
    rule: Asks | None = None
    key: str = ""
    dead: bool = False

    def fits(self, asks: Asks, caller: int, input: dict[str, Any]) -> bool:
        if self.dead or self.left == 0 or self.caller != caller:
            return False
        if self.kind == "remembered" and (self.rule != asks or self.key != _key(asks, input)):
            return False
        return asks.answered_by(self.people)


def _key(asks: Asks, input: dict[str, Any]) -> str:
    return repr(input.get("to", "absent")) if asks.by_name else repr(sorted(input.items()))


@dataclass
class Call:
    """One call under way: who has agreed to which of its rules."""

    caller: int
    input: dict[str, Any]
    task: asyncio.Task[str]
    agreed: dict[Asks, frozenset[str]] = field(default_factory=dict)
    ran: bool = False


class Approvals(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.loop = asyncio.new_event_loop()
        self.policy = 0
        handler = CountingHandler("pay", self._ran)
        self.stage = Stage(
            Path(self.folder.name),
            _text(0),
            approver=self,
            tools=(handler,),
            asks_per_session=10**6,
        )
        self.open: list[tuple[Call | None, ApprovalRequest, asyncio.Future[ApprovalOutcome]]] = []
        self.calls: dict[asyncio.Task[str], Call] = {}
        self.credits: list[Credit] = []
        self.refused: set[tuple[str, str]] = set()
        self.elevating: dict[asyncio.Task[Any], int] = {}
        # The latest time that the service has looked at.
        self.latest = datetime.min.replace(tzinfo=UTC)
        self.faults: list[AssertionError] = []

    def teardown(self) -> None:
        for task in (*self.calls, *self.elevating):
            task.cancel()
        self._step()
        self.loop.close()
        self.folder.cleanup()

    # ---- the seams

    async def ask(self, request: ApprovalRequest) -> ApprovalOutcome:
        task = asyncio.current_task()
        answer: asyncio.Future[ApprovalOutcome] = self.loop.create_future()
        self.open.append((self.calls.get(task), request, answer))  # type: ignore[arg-type]
        try:
            return await answer
        finally:
            self.open = [one for one in self.open if one[2] is not answer]

    async def _ran(self, input: dict[str, Any], ctx: ExecutionContext) -> Any:
        call = self.calls[asyncio.current_task()]  # type: ignore[index]
        try:
            assert not call.ran
            call.ran = True
            self._charge(call)
        except AssertionError as fault:
            # What a tool raises is its own failure: here it is ours.
            self.faults.append(fault)
        return input

    def _charge(self, call: Call) -> None:
        """Take what the call ran by out of the books; fail where there is nothing."""
        text, asking = POLICIES[self.policy]
        assert "deny" not in text
        if not asking and not call.agreed:
            return
        assert (_root(call.caller), repr(sorted(call.input.items()))) not in self.refused
        charged: list[Credit] = []
        for asks in asking:
            people = call.agreed.get(asks, frozenset())
            if asks.answered_by(people):
                self._remember(asks, call, people)
                continue
            found = self._credit(asks, call)
            assert found is not None, f"{asks.name} was not answered"
            charged += [found] if found not in charged else []
        for credit in charged:
            credit.left -= 1

    def _credit(self, asks: Asks, call: Call) -> Credit | None:
        now = self.stage.clock()
        for credit in self.credits:
            if credit.given > max(now, self.latest):
                continue
            behind = credit.ends is not None and now < self.latest
            if credit.fits(asks, call.caller, call.input) and not behind:
                return credit
        return None

    def _remember(self, asks: Asks, call: Call, people: frozenset[str]) -> None:
        if asks.times == 1:
            return
        now = self.stage.clock()
        ends = None if asks.minutes is None else now + timedelta(minutes=asks.minutes)
        self.credits.append(
            Credit(
                kind="remembered",
                caller=call.caller,
                people=people,
                left=asks.times - 1,
                given=now,
                ends=ends,
                rule=asks,
                key=_key(asks, call.input),
            )
        )

    def _look(self) -> None:
        """Let the service's look at the clock be the model's."""
        now = self.stage.clock()
        self.latest = max(self.latest, now)
        for credit in self.credits:
            credit.dead = credit.dead or (credit.ends is not None and credit.ends <= self.latest)

    def _step(self) -> None:
        async def idle() -> None:
            for _ in range(40):
                await asyncio.sleep(0)

        self.loop.run_until_complete(idle())

    # ---- what happens

    @initialize(policy=st.integers(0, len(POLICIES) - 1))
    def begin(self, policy: int) -> None:
        self.edit(policy)

    @rule(caller=st.integers(0, len(CALLERS) - 1), input=st.sampled_from(INPUTS))
    def call(self, caller: int, input: dict[str, Any]) -> None:
        text, asking = POLICIES[self.policy]
        if asking and "deny" not in text:
            self._look()

        async def run() -> str:
            bound = self.stage.service.bound_to(CALLERS[caller])
            try:
                await bound.execute("pay", input)
            except PermissionDenied as error:
                return error.code
            return "ok"

        task = self.loop.create_task(run())
        call = self.calls[task] = Call(caller=caller, input=input, task=task)
        refused = (_root(caller), repr(sorted(input.items()))) in self.refused
        served = all(self._credit(asks, call) for asks in asking)
        self._step()
        if "deny" in text or (asking and refused):
            assert task.done()
            assert not call.ran
        elif served:
            assert call.ran
        else:
            assert any(one is call for one, _, _ in self.open)

    @precondition(lambda self: self.open)
    @rule(place=st.integers(0, 50), who=st.sampled_from(sorted(PEOPLE)), with_bob=st.booleans())
    def approve(self, place: int, who: str, with_bob: bool) -> None:
        call, request, answer = self.open[place % len(self.open)]
        names = {who, "bob"} if with_bob else {who}
        others = tuple(person for name in sorted(names - {who}) for person in PEOPLE[name].people)
        if call is not None:
            by_name = {(asks.name, asks.text): asks for _, every in POLICIES for asks in every}
            for reason in request.reasons:
                asks = next(
                    asks
                    for (name, _), asks in by_name.items()
                    if name == reason.rule and _terms_of(reason) == _terms_of_model(asks)
                )
                call.agreed[asks] = call.agreed.get(asks, frozenset()) | names
        self._look()
        answer.set_result(Approved(by=who, groups=GROUPS[who], with_=others))
        self._step()

    @precondition(lambda self: self.open)
    @rule(place=st.integers(0, 50), outcome=st.sampled_from(["no", "late", "raise", "nonsense"]))
    def refuse(self, place: int, outcome: str) -> None:
        call, _, answer = self.open[place % len(self.open)]
        if outcome == "no" and call is not None:
            self.refused.add((_root(call.caller), repr(sorted(call.input.items()))))
        given: dict[str, Any] = {"no": Denied(by="ann"), "late": TimedOut(), "nonsense": True}
        if outcome == "raise":
            answer.set_exception(ValueError())
        else:
            answer.set_result(given[outcome])
        self._step()
        if call is not None:
            assert call.task.done()
            assert not call.ran

    @rule(policy=st.integers(0, len(POLICIES) - 1))
    def edit(self, policy: int) -> None:
        self.policy = policy
        self.stage.edit(_text(policy))

    @rule(minutes=st.sampled_from([1, 20, 31, 61, -1, -20, -61]))
    def move(self, minutes: int) -> None:
        self.stage.clock.move(minutes=minutes)

    @precondition(lambda self: self.calls)
    @rule(place=st.integers(0, 50))
    def hang_up(self, place: int) -> None:
        call = list(self.calls.values())[place % len(self.calls)]
        if not call.task.done():
            call.task.cancel()
            self._step()
            assert not call.ran

    @rule(
        caller=st.integers(0, len(CALLERS) - 1),
        times=st.integers(1, 3),
        who=st.sampled_from(sorted(PEOPLE)),
        pattern=st.sampled_from(["pay", "pa*", "mail"]),
    )
    def elevate(self, caller: int, times: int, who: str, pattern: str) -> None:
        async def run() -> None:
            bound = self.stage.service.bound_to(CALLERS[caller])
            await bound.elevate((pattern,), seconds=1800, times=times)

        before = len(self.open)
        task = self.loop.create_task(run())
        self.elevating[task] = caller
        self._step()
        (_, _, answer) = self.open[before]
        now = self.stage.clock()
        answer.set_result(PEOPLE[who])
        self._step()
        task.result()
        self.credits.append(
            Credit(
                kind="elevation" if pattern != "mail" else "elsewhere",
                caller=caller if pattern != "mail" else -1,
                people=frozenset({who}),
                left=times,
                given=now,
                ends=now + timedelta(seconds=1800),
            )
        )

    # ---- what holds

    @invariant()
    def nothing_ran_that_the_books_do_not_know(self) -> None:
        for fault in self.faults:
            raise fault

    @invariant()
    def whoever_waits_waits_for_an_answer(self) -> None:
        waiting = {call.task for call, _, _ in self.open if call is not None}
        for call in self.calls.values():
            assert call.task.done() != (call.task in waiting)

    @invariant()
    def every_call_that_ended_is_on_record_once(self) -> None:
        ended = sum(task.done() for task in (*self.calls, *self.elevating))
        assert len(self.stage.sink.records) == ended

    @invariant()
    def what_is_left_is_what_the_books_say(self) -> None:
        kept = self.loop.run_until_complete(self.stage.ledger.standing(now=self.latest))
        told = sorted(
            (credit.left, credit.given)
            for credit in self.credits
            if credit.left
            and not credit.dead
            and (credit.ends is None or credit.ends > self.latest)
        )
        assert sorted((grant.uses or 0, grant.given_at) for grant in kept) == told


def _text(policy: int) -> str:
    base, asking = POLICIES[policy]
    return base + "".join(f"{asks.text}\n" for asks in asking)


def _root(caller: int) -> str:
    return list(CALLERS[caller].chain())[-1].session


def _terms_of(reason: Any) -> tuple[Any, ...]:
    terms = reason.terms
    times = 1 if terms.remember is None else terms.remember.times
    return terms.groups, terms.two_people, times


def _terms_of_model(asks: Asks) -> tuple[Any, ...]:
    return asks.groups, asks.two, asks.times


TestApprovals = Approvals.TestCase
TestApprovals.settings = settings(max_examples=examples(40), stateful_step_count=30, deadline=None)

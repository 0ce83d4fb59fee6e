"""The stack as a whole, from `build_tool_service`, counting what reaches approver and handler."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from policy.approvals import (
    ApprovalOutcome,
    ApprovalRequest,
    Approved,
    Denied,
    ScriptedApprover,
    TimedOut,
)
from policy.audit import AuditRecord, MemorySink
from policy.model import (
    Caller,
    Execution,
    Facts,
    NotFound,
    PermissionDenied,
    Timeout,
    ToolCall,
    Verdict,
    thaw,
)
from policy.service import (
    Allow,
    Confirm,
    Deny,
    GovernedService,
    Rewrite,
    RuleContext,
    build_tool_service,
)
from policy.tools import ExecutionContext
from tests.fakes import BrokenSink, CountingHandler, FakeClock
from tests.unit.service.judges import FakeGeneration, FakeStore, always
from tests.waiting import skip_time


class Fixture:
    """A service around one counting tool, with everything that can be looked at."""

    def __init__(self, store: Any, *outcomes: ApprovalOutcome, **more: Any) -> None:
        self.handler: CountingHandler = more.pop("handler", None) or CountingHandler()
        self.approver = ScriptedApprover(*outcomes)
        self.sink = MemorySink()
        given = {"approver": self.approver, "audit": self.sink, **more}
        self.service: GovernedService = build_tool_service(
            store, tools=[self.handler], clock=FakeClock(), **given
        )

    @property
    def counts(self) -> tuple[int, int]:
        return len(self.approver.requests), self.handler.calls

    def outcomes(self) -> list[str]:
        return [record.outcome for record in self.sink.records]


class Says:
    """A filter or rule that always says the same, or raises it."""

    def __init__(self, said: Any) -> None:
        self.said = said

    def classify(self, name: str, input: Mapping[str, Any]) -> Any:
        return self._say()

    def evaluate(self, name: str, input: Mapping[str, Any], ctx: RuleContext) -> Any:
        return self._say()

    def _say(self) -> Any:
        if isinstance(self.said, BaseException):
            raise self.said
        return self.said


YES = Approved(by="ada")
NO = Denied(by="ada")


async def test_an_allowed_call_runs_once_and_nobody_is_asked() -> None:
    f = Fixture(FakeStore(always(Verdict.ALLOW)))
    out = await f.service.execute("echo", {"a": [1, {"b": 2}]})
    assert out.value == {"a": [1, {"b": 2}]}
    assert out.metadata.generation is not None
    assert out.metadata.generation.number == 1
    assert f.counts == (0, 1)
    assert f.outcomes() == ["ok"]


async def test_a_denied_call_reaches_neither_approver_nor_handler() -> None:
    f = Fixture(FakeStore(always(Verdict.DENY)), YES)
    with pytest.raises(PermissionDenied) as caught:
        await f.service.execute("echo", {})
    assert getattr(caught.value.decision, "verdict", None) is Verdict.DENY
    assert f.counts == (0, 0)
    assert f.outcomes() == ["denied"]


async def test_an_approved_call_runs_once_and_says_who_approved() -> None:
    f = Fixture(FakeStore(always(Verdict.ASK)), YES)
    await f.service.execute("echo", {"a": 1})
    assert f.counts == (1, 1)
    assert f.approver.requests[0].input == {"a": 1}
    (approval,) = f.sink.records[0].approvals
    assert (approval.by, approval.outcome) == ("ada", "approved")


@pytest.mark.parametrize("answer", [NO, TimedOut(), None, True, "yes"])
async def test_anything_but_an_approval_denies(answer: Any) -> None:
    f = Fixture(FakeStore(always(Verdict.ASK)), answer)
    with pytest.raises(PermissionDenied):
        await f.service.execute("echo", {})
    assert f.counts == (1, 0)
    assert f.outcomes() == ["denied"]


async def test_without_an_approver_an_ask_is_a_denial() -> None:
    f = Fixture(FakeStore(always(Verdict.ASK)), approver=None)
    with pytest.raises(PermissionDenied, match="nobody to give it"):
        await f.service.execute("echo", {})
    assert f.counts == (0, 0)


async def test_without_a_store_everything_is_denied_until_a_filter_allows() -> None:
    f = Fixture(None)
    with pytest.raises(PermissionDenied):
        await f.service.execute("echo", {})
    assert f.service.list() == []
    f.service.set_smart_filter(Says(Allow()))
    await f.service.execute("echo", {})
    assert [tool.name for tool in f.service.list()] == ["echo"]
    assert f.counts == (0, 1)


async def test_a_store_without_a_generation_denies_everything() -> None:
    f = Fixture(FakeStore(None))
    f.service.set_smart_filter(Says(Allow()))
    with pytest.raises(PermissionDenied) as refused:
        await f.service.execute("echo", {})
    assert refused.value.code == "policy-unavailable"
    assert f.service.list() == []
    assert f.counts == (0, 0)


@pytest.mark.parametrize("policy", [Verdict.ALLOW, Verdict.ASK, Verdict.DENY])
@pytest.mark.parametrize("said", [Allow(), Confirm("sure?"), Deny("no"), ValueError("x"), None])
async def test_a_filter_can_only_tighten(policy: Verdict, said: Any) -> None:
    f = Fixture(FakeStore(always(policy)), YES)
    f.service.set_smart_filter(Says(said))
    denied = policy is Verdict.DENY or not isinstance(said, (Allow, Confirm))
    asks = not denied and (policy is Verdict.ASK or isinstance(said, Confirm))
    if denied:
        with pytest.raises(PermissionDenied):
            await f.service.execute("echo", {})
    else:
        await f.service.execute("echo", {})
    assert f.counts == (int(asks), int(not denied))


@pytest.mark.parametrize("said", [Deny("no"), RuntimeError("x"), None, Rewrite(None)])  # type: ignore[arg-type]
async def test_a_context_rule_that_refuses_does_so_before_anybody_is_asked(said: Any) -> None:
    f = Fixture(FakeStore(always(Verdict.ASK)), YES)
    f.service.set_rules([Says(Allow()), Says(said)])
    with pytest.raises(PermissionDenied):
        await f.service.execute("echo", {})
    assert f.counts == (0, 0)


async def test_a_tool_without_handler_is_not_found_before_anybody_is_asked() -> None:
    f = Fixture(FakeStore(always(Verdict.ASK)), YES)
    with pytest.raises(NotFound):
        await f.service.execute("other", {})
    assert f.counts == (0, 0)
    assert f.outcomes() == ["not-found"]


def _below_ten(call: ToolCall, facts: Facts) -> Verdict:
    return Verdict.ALLOW if call.input.get("n", 0) < 10 else Verdict.DENY


async def test_what_a_rule_rewrites_is_what_runs_and_is_decided_again() -> None:
    f = Fixture(FakeStore(FakeGeneration(_below_ten)))
    f.service.set_rules([Says(Rewrite({"n": 2}))])
    out = await f.service.execute("echo", {"n": 1})
    assert out.value == {"n": 2}
    assert out.metadata.rewritten
    f.service.set_rules([Says(Rewrite({"n": 20}))])
    with pytest.raises(PermissionDenied):
        await f.service.execute("echo", {"n": 1})
    assert f.counts == (0, 1)


async def test_no_rewrite_rescues_a_denied_call() -> None:
    f = Fixture(FakeStore(FakeGeneration(_below_ten)))
    f.service.set_rules([Says(Rewrite({"n": 2}))])
    with pytest.raises(PermissionDenied):
        await f.service.execute("echo", {"n": 20})
    assert f.counts == (0, 0)


async def test_two_rules_that_want_different_inputs_deny() -> None:
    f = Fixture(FakeStore(always(Verdict.ALLOW)))
    f.service.set_rules([Says(Rewrite({"n": 1})), Says(Rewrite({"n": 2}))])
    with pytest.raises(PermissionDenied, match="different inputs"):
        await f.service.execute("echo", {})
    assert f.counts == (0, 0)


async def test_a_rewrite_that_would_go_on_rewriting_denies() -> None:
    class More:
        def evaluate(self, name: str, input: Mapping[str, Any], ctx: RuleContext) -> Rewrite:
            return Rewrite({"n": input.get("n", 0) + 1})

    f = Fixture(FakeStore(always(Verdict.ALLOW)))
    f.service.set_rules([More()])
    with pytest.raises(PermissionDenied, match="changed again"):
        await f.service.execute("echo", {})


async def test_the_approver_sees_the_rewritten_call_and_exactly_that_runs() -> None:
    store = FakeStore(FakeGeneration(lambda call, facts: (Verdict.ASK, {"n": 5})))
    f = Fixture(store, YES)
    out = await f.service.execute("echo", {"n": 500})
    assert f.approver.requests[0].input == {"n": 5}
    assert out.value == {"n": 5}
    record = f.sink.records[0]
    assert (record.input, record.final_input, record.rewritten) == ({"n": 500}, {"n": 5}, True)


async def test_a_handler_may_change_its_input_without_changing_the_record() -> None:
    async def spoil(input: dict[str, Any], ctx: ExecutionContext) -> str:
        input["a"].append("more")
        return "done"

    f = Fixture(FakeStore(always(Verdict.ALLOW)), handler=CountingHandler(body=spoil))
    given: dict[str, Any] = {"a": []}
    await f.service.execute("echo", given)
    assert given == {"a": []}
    assert f.sink.records[0].final_input == {"a": ()}


async def test_a_rule_refuses_what_was_asked_even_if_the_policy_rewrites_it() -> None:
    class NotTwenty:
        def evaluate(self, name: str, input: Mapping[str, Any], ctx: RuleContext) -> Any:
            return Deny("twenty") if input.get("n") == 20 else Allow()

    f = Fixture(FakeStore(FakeGeneration(lambda call, facts: (Verdict.ALLOW, {"n": 1}))))
    f.service.set_rules([NotTwenty()])
    await f.service.execute("echo", {"n": 19})
    with pytest.raises(PermissionDenied, match="twenty"):
        await f.service.execute("echo", {"n": 20})
    assert f.handler.inputs == [{"n": 1}]


async def test_whatever_fails_while_deciding_denies_and_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fails(call: ToolCall, facts: Facts) -> Verdict:
        raise RecursionError

    f = Fixture(FakeStore(FakeGeneration(fails)), YES)
    with pytest.raises(PermissionDenied) as refused:
        await f.service.execute("echo", {})
    assert refused.value.code == "policy-unavailable"
    assert refused.value.decision is not None
    assert refused.value.decision.reasons[0].message == "the policy could not be evaluated"
    assert "deciding failed, so the call is denied: RecursionError" in caplog.text

    async def no_network(name: str) -> tuple[str, ...] | None:
        raise OSError

    def asks(call: ToolCall, facts: Facts) -> Verdict:
        assert facts.resolvers.host is not None
        return Verdict.DENY if facts.resolvers.host("a") else Verdict.ALLOW

    g = Fixture(FakeStore(FakeGeneration(asks)), look_up=no_network)
    with pytest.raises(PermissionDenied):
        await g.service.execute("echo", {})
    assert f.counts == g.counts == (0, 0)


# --- the answer comes, and meanwhile the world has changed -----------------------------------


class Meanwhile:
    """Approves, after doing something."""

    def __init__(self, *steps: Any) -> None:
        self.steps = list(steps)
        self.requests: list[ApprovalRequest] = []

    async def ask(self, request: ApprovalRequest) -> ApprovalOutcome:
        self.requests.append(request)
        if self.steps:
            self.steps.pop(0)()
        return YES


async def test_a_policy_that_denies_by_the_time_of_the_answer_denies() -> None:
    store = FakeStore(always(Verdict.ASK))

    def turn() -> None:
        store.current = always(Verdict.DENY, number=2)

    f = Fixture(store, approver=Meanwhile(turn))
    with pytest.raises(PermissionDenied):
        await f.service.execute("echo", {})
    assert f.handler.calls == 0
    generation = f.sink.records[0].generation
    assert generation is not None
    assert generation.number == 2


async def test_a_filter_that_denies_by_the_time_of_the_answer_denies() -> None:
    f = Fixture(FakeStore(always(Verdict.ASK)))
    f.service.set_approver(Meanwhile(lambda: f.service.set_smart_filter(Says(Deny("no")))))
    with pytest.raises(PermissionDenied):
        await f.service.execute("echo", {})
    assert f.handler.calls == 0


async def test_a_rule_that_was_not_answered_for_is_asked_anew_once() -> None:
    store = FakeStore(always(Verdict.ASK))

    def turn() -> None:
        store.current = always(Verdict.ASK, number=2, name="another")

    approver = Meanwhile(turn)
    f = Fixture(store, approver=approver)
    await f.service.execute("echo", {})
    assert len(approver.requests) == 2
    assert f.handler.calls == 1


async def test_a_policy_that_keeps_changing_ends_in_a_denial() -> None:
    store = FakeStore(always(Verdict.ASK))

    def turn(name: str) -> Any:
        def do() -> None:
            store.current = always(Verdict.ASK, name=name)

        return do

    approver = Meanwhile(turn("b"), turn("c"), turn("d"))
    f = Fixture(store, approver=approver)
    with pytest.raises(PermissionDenied, match="changed while it was being approved"):
        await f.service.execute("echo", {})
    assert len(approver.requests) == 2
    assert f.handler.calls == 0


async def test_an_approval_serves_only_the_call_it_was_given_for() -> None:
    store = FakeStore(FakeGeneration(lambda call, facts: (Verdict.ASK, {"n": 1})))

    def turn() -> None:
        store.current = FakeGeneration(lambda call, facts: (Verdict.ASK, {"n": 2}))

    approver = Meanwhile(turn)
    f = Fixture(store, approver=approver)
    out = await f.service.execute("echo", {})
    assert [request.input for request in approver.requests] == [{"n": 1}, {"n": 2}]
    assert out.value == {"n": 2}


async def test_an_input_changed_by_its_owner_while_waiting_is_asked_anew() -> None:
    given = {"n": 1}
    approver = Meanwhile(lambda: given.update(n=2))
    f = Fixture(FakeStore(always(Verdict.ASK)), approver=approver)
    out = await f.service.execute("echo", given)
    assert [request.input for request in approver.requests] == [{"n": 1}, {"n": 2}]
    assert out.value == {"n": 2}
    assert f.sink.records[0].input == {"n": 1}


async def test_a_refusal_sticks_for_that_call_for_the_rest_of_the_session() -> None:
    f = Fixture(FakeStore(always(Verdict.ASK)), NO, YES, YES)
    alice = f.service.bound_to(Caller(session="a"))
    with pytest.raises(PermissionDenied):
        await alice.execute("echo", {"n": 1})
    child = Caller(session="c", agent="child", parent=Caller(session="a"))
    for service in (alice, f.service.bound_to(child)):
        with pytest.raises(PermissionDenied, match="refused before"):
            await service.execute("echo", {"n": 1.0})
    assert f.counts == (1, 0)
    await alice.execute("echo", {"n": 2})
    await f.service.bound_to(Caller(session="b")).execute("echo", {"n": 1})
    assert f.counts == (3, 2)


async def test_a_session_can_cause_only_so_many_questions() -> None:
    f = Fixture(FakeStore(always(Verdict.ASK)), YES, YES, YES, asks_per_session=2)
    await f.service.execute("echo", {"n": 1})
    await f.service.execute("echo", {"n": 2})
    with pytest.raises(PermissionDenied, match="too many approval requests"):
        await f.service.execute("echo", {"n": 3})
    assert f.counts == (2, 2)


@pytest.mark.parametrize("problem", [ValueError("x"), TimeoutError(), asyncio.CancelledError()])
async def test_a_failing_approver_denies(problem: BaseException) -> None:
    class Failing:
        async def ask(self, request: ApprovalRequest) -> ApprovalOutcome:
            raise problem

    f = Fixture(FakeStore(always(Verdict.ASK)), approver=Failing())
    with pytest.raises(PermissionDenied):
        await f.service.execute("echo", {})
    assert f.handler.calls == 0
    assert f.outcomes() == ["denied"]


async def test_an_approver_that_never_answers_denies_in_time() -> None:
    class Never:
        async def ask(self, request: ApprovalRequest) -> ApprovalOutcome:
            return await asyncio.get_running_loop().create_future()  # type: ignore[no-any-return]

    f = Fixture(FakeStore(always(Verdict.ASK)), approver=Never(), approval_timeout=0.01)
    with pytest.raises(PermissionDenied, match="in time"):
        await f.service.execute("echo", {})
    assert f.handler.calls == 0


async def test_a_call_cancelled_while_waiting_for_an_answer_never_runs() -> None:
    waiting = asyncio.Event()

    class Waits:
        async def ask(self, request: ApprovalRequest) -> ApprovalOutcome:
            waiting.set()
            return await asyncio.get_running_loop().create_future()  # type: ignore[no-any-return]

    f = Fixture(FakeStore(always(Verdict.ASK)), approver=Waits())
    task = asyncio.create_task(f.service.execute("echo", {}))
    await waiting.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert f.handler.calls == 0
    assert f.outcomes() == ["cancelled"]


# --- running ---------------------------------------------------------------------------------


async def _forever(input: dict[str, Any], ctx: ExecutionContext) -> Any:
    await asyncio.get_running_loop().create_future()


async def test_a_tool_that_takes_too_long_ends_in_a_timeout_with_its_limit() -> None:
    f = Fixture(
        FakeStore(always(Verdict.ALLOW)),
        handler=CountingHandler(body=_forever),
        timeouts={"echo": 0.01},
    )
    with pytest.raises(Timeout) as caught:
        await f.service.execute("echo", {})
    assert caught.value.seconds == 0.01
    assert f.outcomes() == ["timeout"]


async def test_waiting_for_a_person_does_not_use_up_the_tools_time() -> None:
    class Slow:
        async def ask(self, request: ApprovalRequest) -> ApprovalOutcome:
            skip_time(100)
            await asyncio.sleep(0)
            return YES

    f = Fixture(FakeStore(always(Verdict.ASK)), approver=Slow(), default_timeout=60)
    await f.service.execute("echo", {})
    assert f.outcomes() == ["ok"]


async def test_a_handlers_own_timeout_error_is_its_failure() -> None:
    async def fails(input: dict[str, Any], ctx: ExecutionContext) -> Any:
        raise TimeoutError

    f = Fixture(FakeStore(always(Verdict.ALLOW)), handler=CountingHandler(body=fails))
    with pytest.raises(Execution) as caught:
        await f.service.execute("echo", {})
    assert isinstance(caught.value.__cause__, TimeoutError)
    assert f.outcomes() == ["failed"]


async def test_what_a_tool_was_refused_is_no_refusal_of_the_tool() -> None:
    async def nested(input: dict[str, Any], ctx: ExecutionContext) -> Any:
        assert ctx.tools is not None
        return (await ctx.tools.execute("echo", {"n": 20})).value

    handler = CountingHandler(body=nested)
    f = Fixture(FakeStore(FakeGeneration(_below_ten)), handler=handler)
    with pytest.raises(Execution):
        await f.service.execute("echo", {"n": 1})
    assert f.outcomes() == ["denied", "failed"]
    assert len({record.id for record in f.sink.records}) == 2


async def test_a_keyboard_interrupt_in_a_tool_is_recorded_and_passed_on() -> None:
    async def interrupted(input: dict[str, Any], ctx: ExecutionContext) -> Any:
        raise BaseExceptionOfOurs

    f = Fixture(FakeStore(always(Verdict.ALLOW)), handler=CountingHandler(body=interrupted))
    with pytest.raises(BaseExceptionOfOurs):
        await f.service.execute("echo", {})
    assert f.outcomes() == ["cancelled"]


class BaseExceptionOfOurs(BaseException):
    pass


async def test_each_call_is_judged_by_one_policy_with_one_set_of_guards() -> None:
    """Filter and rules are exchanged as pairs; no call may meet halves of two pairs."""
    f = Fixture(FakeStore(always(Verdict.ALLOW)))

    class Tag:
        def __init__(self, tag: int) -> None:
            self.tag = tag

        def classify(self, name: str, input: Mapping[str, Any]) -> Any:
            return Allow() if input.get("tag", self.tag) == self.tag else Deny("mixed")

        def evaluate(self, name: str, input: Mapping[str, Any], ctx: RuleContext) -> Any:
            return Rewrite({**input, "tag": self.tag})

    async def swap() -> None:
        for tag in range(200):
            f.service.guards.set_both(Tag(tag), [Tag(tag)])
            await asyncio.sleep(0)

    async def call() -> None:
        for _ in range(100):
            await f.service.execute("echo", {})
            await asyncio.sleep(0)

    f.service.guards.set_both(Tag(-1), [Tag(-1)])
    await asyncio.gather(swap(), call(), call())
    assert f.outcomes() == ["ok"] * 200


async def test_what_runs_and_what_is_reported_come_from_one_generation() -> None:
    def generation(number: int) -> FakeGeneration:
        verdict = Verdict.ASK if number % 5 == 0 else Verdict.ALLOW
        return FakeGeneration(lambda call, facts: (verdict, {"g": number}), number=number)

    class Slowly:
        async def ask(self, request: ApprovalRequest) -> ApprovalOutcome:
            for _ in range(3):
                await asyncio.sleep(0)
            return YES

    store = FakeStore(generation(1))
    f = Fixture(store, approver=Slowly(), asks_per_session=10_000)
    seen: set[int] = set()

    async def swap() -> None:
        for number in range(2, 60):
            store.current = generation(number)
            await asyncio.sleep(0)

    async def call() -> None:
        for _ in range(30):
            try:
                out = await f.service.execute("echo", {})
            except PermissionDenied:
                continue
            assert out.metadata.generation is not None
            assert out.value == {"g": out.metadata.generation.number}
            seen.add(out.value["g"])
            await asyncio.sleep(0)

    await asyncio.gather(swap(), *(call() for _ in range(4)))
    assert len(seen) > 5
    for record in f.sink.records:
        assert record.generation is not None
        assert record.final_input == {"g": record.generation.number}


async def test_registering_and_unregistering_never_disturb_running_calls() -> None:
    started, go = asyncio.Event(), asyncio.Event()

    async def waits(input: dict[str, Any], ctx: ExecutionContext) -> str:
        started.set()
        await go.wait()
        return "old"

    f = Fixture(FakeStore(always(Verdict.ALLOW)), handler=CountingHandler(body=waits))
    running = asyncio.create_task(f.service.execute("echo", {}))
    await started.wait()
    assert f.service.unregister("echo") is f.handler
    with pytest.raises(NotFound):
        await f.service.execute("echo", {})
    f.service.register(CountingHandler("echo"))
    assert (await f.service.execute("echo", {"new": True})).value == {"new": True}
    go.set()
    assert (await running).value == "old"


async def test_nothing_runs_while_records_cannot_be_written() -> None:
    sink = BrokenSink()
    f = Fixture(FakeStore(always(Verdict.ALLOW)), audit=sink)
    with pytest.raises(Execution, match="record could not be written"):
        await f.service.execute("echo", {"n": 1})
    with pytest.raises(PermissionDenied, match="cannot be recorded"):
        await f.service.execute("echo", {"n": 2})
    assert f.handler.calls == 1
    sink.mended = True
    await f.service.execute("echo", {"n": 3})
    assert f.handler.calls == 2
    assert [record.outcome for record in sink.records] == ["ok", "denied", "ok"]


async def test_no_number_of_refusals_takes_the_places_of_calls_that_ran() -> None:
    sink, going = BrokenSink(), asyncio.Event()

    async def wait(input: dict[str, Any], ctx: ExecutionContext) -> Any:
        await going.wait()

    f = Fixture(FakeStore(always(Verdict.ALLOW)), audit=sink, handler=CountingHandler(body=wait))
    running = [asyncio.create_task(f.service.execute("echo", {"n": n})) for n in range(3)]
    while f.handler.calls < 3:  # noqa: ASYNC110 - they start one after another
        await asyncio.sleep(0)
    with pytest.raises(NotFound):
        await f.service.execute("nothing", {})
    for _ in range(1_500):
        with pytest.raises(PermissionDenied, match="cannot be recorded"):
            await f.service.execute("echo", {"n": -1})
    going.set()
    for done in await asyncio.gather(*running, return_exceptions=True):
        assert isinstance(done, Execution) and done.code == "output-withheld"
    sink.mended = True
    await f.service.execute("echo", {"n": 3})
    outcomes = [record.outcome for record in sink.records]
    assert outcomes == ["not-found", *["denied"] * 999, "ok", "ok", "ok", "ok"]
    assert [thaw(record.input)["n"] for record in sink.records[-4:]] == [0, 1, 2, 3]


class StartingSink(MemorySink):
    """Is told of starts too, unless it is full."""

    def __init__(self) -> None:
        super().__init__()
        self.starts: list[tuple[AuditRecord, bool]] = []
        self.full = False

    def write_start(self, record: AuditRecord, *, durable: bool) -> None:
        if self.full:
            raise OSError("disk full")
        self.starts.append((record, durable))

    def close_interrupted(self) -> int:
        return 0


@pytest.mark.parametrize("required", [True, False])
async def test_a_call_is_on_record_before_it_runs(*, required: bool) -> None:
    sink, seen = StartingSink(), []

    async def look(input: dict[str, Any], ctx: ExecutionContext) -> Any:
        (start, durable) = sink.starts[-1]
        seen.append((start.id == ctx.call_id, start.outcome, durable, len(sink.records)))

    handler = CountingHandler(body=look)
    judged = always(Verdict.ASK)
    f = Fixture(FakeStore(judged), YES, audit=sink, audit_required=required, handler=handler)
    await f.service.execute("echo", {"n": 1})
    assert seen == [(True, "interrupted", required, 0)]
    (start, _), (end,) = sink.starts[0], sink.records
    assert (start.id, start.outcome, end.outcome) == (end.id, "interrupted", "ok")
    assert start.approvals == end.approvals and len(start.approvals) == 1
    assert (start.final_input, start.reasons) == (end.final_input, end.reasons)


async def test_a_refused_call_has_no_start() -> None:
    sink = StartingSink()
    f = Fixture(FakeStore(always(Verdict.DENY)), audit=sink)
    with pytest.raises(PermissionDenied):
        await f.service.execute("echo", {})
    with pytest.raises(PermissionDenied):
        await f.service.execute("nothing", {})
    assert (len(sink.starts), len(sink.records)) == (0, 2)


@pytest.mark.parametrize("required", [True, False])
async def test_a_call_whose_start_cannot_be_kept_runs_only_where_that_is_not_required(
    *, required: bool
) -> None:
    sink = StartingSink()
    sink.full = True
    f = Fixture(FakeStore(always(Verdict.ALLOW)), audit=sink, audit_required=required)
    if required:
        with pytest.raises(PermissionDenied, match="cannot be recorded"):
            await f.service.execute("echo", {})
    else:
        await f.service.execute("echo", {})
    assert f.handler.calls == (not required)
    (record,) = sink.records
    assert (record.outcome, record.verdict) == ("denied" if required else "ok", Verdict.ALLOW)


async def test_an_optional_sink_that_fails_stops_nothing() -> None:
    f = Fixture(FakeStore(always(Verdict.ALLOW)), audit=BrokenSink(), audit_required=False)
    await f.service.execute("echo", {})
    await f.service.execute("echo", {})
    assert f.handler.calls == 2


class AsyncSink:
    """Would keep a record for whoever waited."""

    def __init__(self) -> None:
        self.records: list[object] = []

    async def write(self, record: object) -> None:
        self.records.append(record)


class LaterSink:
    """Hands out what is to be waited for from a method that is not async."""

    def __init__(self) -> None:
        self.inner = AsyncSink()

    def write(self, record: object) -> object:
        return self.inner.write(record)


@pytest.mark.parametrize(
    ("sink", "said"),
    [
        (AsyncSink(), "`AsyncSink.write` is async"),
        (object(), "`object` is not an audit sink: it has no method `write`"),
        (MemorySink, "`MemorySink` is a class"),
        ("calls.jsonl", "`str` is not an audit sink"),
    ],
)
def test_a_sink_that_could_not_keep_records_is_refused_at_once(sink: Any, said: str) -> None:
    with pytest.raises(TypeError, match=said):
        Fixture(FakeStore(always(Verdict.ALLOW)), audit=sink)


async def test_a_record_that_would_have_to_be_waited_for_counts_as_not_written() -> None:
    sink = LaterSink()
    f = Fixture(FakeStore(always(Verdict.ALLOW)), audit=sink)
    with pytest.raises(Execution, match="record could not be written"):
        await f.service.execute("echo", {})
    with pytest.raises(PermissionDenied, match="cannot be recorded"):
        await f.service.execute("echo", {})
    assert f.handler.calls == 1
    assert sink.inner.records == []


@pytest.mark.parametrize("approver", ["yes", object(), ScriptedApprover])
def test_an_approver_who_cannot_be_asked_is_refused_at_once(approver: Any) -> None:
    with pytest.raises(TypeError, match="approver"):
        Fixture(FakeStore(always(Verdict.ASK)), approver=approver)
    with pytest.raises(TypeError, match="approver"):
        Fixture(FakeStore(always(Verdict.ASK))).service.set_approver(approver)


@pytest.mark.parametrize("name", ["", "nowhere", "file"])
def test_a_workspace_that_is_no_folder_is_refused_at_once(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").touch()
    given = str(tmp_path / name) if name else ""
    with pytest.raises(ValueError, match=r"the workspace .*(is not a folder|has an empty name)"):
        Fixture(FakeStore(always(Verdict.ALLOW)), workspace=given)


async def test_names_are_looked_up_once_and_only_where_a_rule_wants_addresses(
    tmp_path: Path,
) -> None:
    asked: list[str] = []

    async def look_up(name: str) -> tuple[str, ...] | None:
        asked.append(name)
        return ("10.0.0.1",)

    def rule(call: ToolCall, facts: Facts) -> Verdict:
        if "host" not in call.input:
            return Verdict.ALLOW
        assert facts.resolvers.host is not None
        found = facts.resolvers.host(call.input["host"])
        return Verdict.DENY if found is None else Verdict.ALLOW

    f = Fixture(FakeStore(FakeGeneration(rule)), look_up=look_up, workspace=tmp_path)
    await f.service.execute("echo", {})
    assert asked == []
    await f.service.execute("echo", {"host": "a.example"})
    assert asked == ["a.example"]
    resolve = f.handler.contexts[-1].facts.resolvers.host
    assert resolve is not None
    assert resolve("a.example") == ("10.0.0.1",)


async def test_listeners_hear_of_every_call_and_cannot_break_one() -> None:
    f = Fixture(FakeStore(FakeGeneration(_below_ten)))
    heard: list[str] = []

    def listen(event: Any) -> None:
        heard.append(type(event).__name__)
        raise RuntimeError

    end = f.service.subscribe(listen)
    await f.service.execute("echo", {"n": 1})
    with pytest.raises(PermissionDenied):
        await f.service.execute("echo", {"n": 10})
    end()
    await f.service.execute("echo", {"n": 1})
    assert heard == ["ToolStarted", "ToolEnded"] * 2


async def test_every_call_is_logged_as_it_starts_and_ends(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("INFO", logger="tool.call")
    f = Fixture(FakeStore(FakeGeneration(_below_ten)))
    await f.service.execute("echo", {"n": 1})
    with pytest.raises(PermissionDenied):
        await f.service.execute("echo", {"n": 10})
    assert [message.split()[0] for message in caplog.messages] == ["start", "ok", "start", "err"]

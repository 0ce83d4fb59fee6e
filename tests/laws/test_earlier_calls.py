"""Laws of rules about earlier calls, over histories that are drawn call by call."""

from __future__ import annotations

import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from policy.decision import decide
from policy.model import (
    CalledTool,
    Caller,
    CallOutput,
    History,
    PastCall,
    ReleasedCall,
    ToolCall,
    Verdict,
)
from policy.service import KeepingBounds, MemorySessionLog
from tests.examples import examples
from tests.laws.calls import SPECS, WORLDS, calls, pick
from tests.laws.conditions import GROUNDING_TESTS, HISTORY_TESTS, SUSPICION_TESTS
from tests.laws.engine import Built, build
from tests.laws.policies import GLOBAL, PREAMBLE, PolicyText
from tests.laws.situations import spelled
from tests.reference import reference_decide

_WORLD = WORLDS[0]
_NOW = _WORLD.now or datetime(2026, 11, 21, tzinfo=UTC)
# What stays true, or becomes true, however many calls are added.
_LASTING = (
    *(test for test in HISTORY_TESTS if test.startswith("after")),
    *SUSPICION_TESTS,
    "(any c in calls(note): c.input.a == input.a)",
    "length(calls(note)) > 1",
    "input.a in calls(note).input.a",
)
# The same of what grounds a value.
_GROUNDS = tuple(test for test in GROUNDING_TESTS if not test.startswith("latest"))
_NOBODY = Caller()


@cache
def built(tool: str, condition: str, *, permits: bool) -> Built:
    rule = f"x: {'allow' if permits else 'deny'} {spelled(tool)} when {condition}"
    default = "default deny" if permits else "default allow"
    statements = ("policy for every agent", *PREAMBLE.splitlines(), default, rule)
    return build(PolicyText(files=((GLOBAL, statements),)))


_VALUES = ("p", "q", "pq", 1, 5, 2.5, ("p", "q"), {"c": "p"}, None, True)
_FIELDS = ("a", "b", "n", "tags", "box")


@st.composite
def objects(draw: DrawFn) -> dict[str, Any]:
    return {name: pick(draw, _VALUES) for name in _FIELDS if draw(st.booleans()) or name == "a"}


@st.composite
def pasts(draw: DrawFn) -> PastCall:
    """Draw an earlier call: its result is an object, a list of them, a text, or not known."""
    spec = pick(draw, [one for one in SPECS if one.name != "risky"])
    result: Any = pick(draw, ("object", "object", "list", "P q", None))
    if result in ("object", "list"):
        shape, result = result, draw(objects())
        result = result if shape == "object" else (result, draw(objects()), "pq")
    minutes = pick(draw, (0.5, 3, 5, 9.9, 90, -3, None))
    return PastCall(
        tool=spec.name,
        origin=spec.origin.kind,
        server=spec.origin.server,
        input=draw(objects()),
        result=result,
        texts=pick(draw, ((), (), ("p  Q",))),
        outcome=pick(draw, ("ok", "ok", "ok", "failed", "timeout")),
        at=None if minutes is None else _NOW - timedelta(minutes=minutes),
    )


def verdict(one: Built, call: ToolCall, history: tuple[PastCall, ...] | History) -> Verdict:
    facts = replace(_WORLD, history=history)
    return decide(one.program, call, _NOBODY, facts).verdict


@st.composite
def rules(draw: DrawFn) -> tuple[ToolCall, Built, bool]:
    call = draw(calls(("note", "look", "post")))
    permits = draw(st.booleans())
    more = GROUNDING_TESTS if permits else SUSPICION_TESTS
    condition = pick(draw, (*HISTORY_TESTS, *more, *more))
    return call, built(call.tool, condition, permits=permits), permits


@settings(max_examples=examples(2_000))
@given(rules(), st.lists(pasts(), max_size=6))
def test_the_engine_decides_by_earlier_calls_as_the_oracle_does(
    rule: tuple[ToolCall, Built, bool], history: list[PastCall]
) -> None:
    call, one, _ = rule
    facts = replace(_WORLD, history=tuple(history))
    expected = reference_decide(one.trees, SPECS, call, _NOBODY, facts)
    assert decide(one.program, call, _NOBODY, facts).verdict is expected.verdict


@settings(max_examples=examples(500))
@given(calls(("note",)), st.data(), st.lists(pasts(), max_size=5), pasts())
def test_more_history_never_makes_suspicion_or_grounding_less_true(
    call: ToolCall, data: st.DataObject, history: list[PastCall], another: PastCall
) -> None:
    place = data.draw(st.integers(0, len(history)))
    more = (*history[:place], another, *history[place:])
    suspicion = built(call.tool, data.draw(st.sampled_from(_LASTING)), permits=False)
    if verdict(suspicion, call, tuple(history)) is Verdict.DENY:
        assert verdict(suspicion, call, more) is Verdict.DENY
    grounded = built(call.tool, data.draw(st.sampled_from(_GROUNDS)), permits=True)
    if verdict(grounded, call, tuple(history)) is Verdict.ALLOW:
        assert verdict(grounded, call, more) is Verdict.ALLOW


@settings(max_examples=examples(500))
@given(rules(), st.lists(pasts(), max_size=5), pasts(), st.data())
def test_a_call_that_did_not_succeed_gives_nothing(
    rule: tuple[ToolCall, Built, bool],
    history: list[PastCall],
    another: PastCall,
    data: st.DataObject,
) -> None:
    call, one, permits = rule
    failed = replace(another, outcome=data.draw(st.sampled_from(("failed", "running", "odd"))))
    if permits and verdict(one, call, tuple(history)) is Verdict.DENY:
        assert verdict(one, call, (*history, failed)) is Verdict.DENY


# ------------------------------------------------------------------ logs


def noted(log: MemorySessionLog, past: PastCall, *, kept: bool = True) -> None:
    """Let a log note an earlier call, as a service does."""
    called = CalledTool(name=past.tool, kind=past.origin, server=past.server)
    call = ReleasedCall(tool=called, at=past.at, input=past.input if kept else None)
    release = log.release(_NOBODY, call, judged_by=None)
    output = None
    if past.result is not None or past.texts:
        output = CallOutput(result=past.result, texts=past.texts)
    log.finish(release, past.outcome, output)  # type: ignore[arg-type]


@settings(max_examples=examples(300))
@given(st.lists(rules(), min_size=1, max_size=4), st.lists(pasts(), max_size=8))
def test_what_is_worked_out_once_is_what_every_call_says_anew(
    asked: list[tuple[ToolCall, Built, bool]], history: list[PastCall]
) -> None:
    log = MemorySessionLog()
    snapshots: list[History] = [log.history(_NOBODY)]
    for past in history:
        noted(log, past)
        snapshots.append(log.history(_NOBODY))
        for call, one, _ in asked:
            verdict(one, call, snapshots[-1])
    # Also those of snapshots that are older than what was worked out since.
    for length, snapshot in enumerate(snapshots):
        for call, one, _ in asked:
            assert verdict(one, call, snapshot) is verdict(one, call, tuple(history[:length]))


@settings(max_examples=examples(500))
@given(rules(), st.lists(st.tuples(pasts(), st.booleans()), max_size=8), st.integers(0, 6))
def test_what_is_not_kept_never_loosens(
    rule: tuple[ToolCall, Built, bool], history: list[tuple[PastCall, bool]], entries: int
) -> None:
    call, one, _ = rule
    bounded = MemorySessionLog(bounds=KeepingBounds(entries=entries))
    for past, kept in history:
        noted(bounded, past, kept=kept)
    found = verdict(one, call, bounded.history(_NOBODY))
    everything = verdict(one, call, tuple(past for past, _ in history))
    assert found.rank >= everything.rank


def test_threads_that_decide_while_calls_end_agree_with_one_that_does_not() -> None:
    log = MemorySessionLog()
    asked = [
        (
            ToolCall(tool="note", input={"a": "v7", "n": 1}),
            built("note", condition, permits=permits),
        )
        for condition, permits in (
            ("input.a in results(note).a", True),
            ("input.a from results(note)", True),
            ("input.a from outside", False),
            ("(any c in calls(note): c.input.a == input.a)", False),
            ("after some", False),
        )
    ]
    history = [
        PastCall(
            tool="note" if number % 2 else "lab__loose",
            origin="host" if number % 2 else "mcp",
            server="" if number % 2 else "lab",
            input={"a": f"v{number}", "n": number},
            result={"a": f"v{number}", "n": number} if number % 2 else f"text v{number - 1}",
            at=_NOW,
        )
        for number in range(60)
    ]
    wrong: list[str] = []
    done = threading.Event()

    def decide_meanwhile() -> None:
        while not done.is_set():
            snapshot = log.history(_NOBODY)
            length, running = snapshot.kept.length, snapshot.kept.running
            for call, one in asked:
                expected = verdict(one, call, (*history[:length], *running))
                if verdict(one, call, snapshot) is not expected:
                    wrong.append(f"{one} after {length}")

    threads = [threading.Thread(target=decide_meanwhile) for _ in range(3)]
    for thread in threads:
        thread.start()
    for past in history:
        noted(log, past)
    done.set()
    for thread in threads:
        thread.join()
    assert wrong == []

"""Laws about limits: whatever a policy, a call and the calls before it."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta

from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from policy.decision import decide
from policy.model import Caller, Facts, PastCall, ToolCall, Verdict
from tests.examples import examples
from tests.laws.calls import SPECS, SPELLED, WORLDS, calls, once_in, pick
from tests.laws.conditions import draw_condition
from tests.laws.engine import Unsound, build, fits_its_schema
from tests.laws.policies import GLOBAL, PREAMBLE, PolicyText
from tests.laws.situations import Situation, Tally, by_name, opinions, situations
from tests.reference import reference_decide

_NOW = WORLDS[0].now
assert _NOW is not None
_AGENTS = (None, "ann", "bob", "eve")
_PERIODS = ("", " per minute", " per 10m", " per hour")
_SCOPES = ("", " per session", " per agent", " per user", " per input.tags", " per input.n")


@st.composite
def _limits(draw: DrawFn, call: ToolCall) -> str:
    """Draw a limit that concerns the call more often than not."""
    own = SPELLED.get(call.tool, call.tool)
    tools = pick(draw, (own, own, "*", f"{own}, note", "no*"))
    of = pick(draw, ("", "", " of input.n", " of input.n * 2"))
    most = pick(draw, (0, 1, 2, 3, 7.5) if of else (0, 1, 2, 3))
    clauses = ""
    if once_in(draw, 6):
        clauses += " after note"
    if once_in(draw, 3):
        clauses += " when " + draw_condition(draw, call, permits=False)
    if once_in(draw, 6):
        clauses += " unless " + draw_condition(draw, call, permits=True)
    shadow = "shadow " if once_in(draw, 8) else ""
    return (
        f"{shadow}limit {tools} to {most}{of}{pick(draw, _PERIODS)}{pick(draw, _SCOPES)}{clauses}"
    )


@st.composite
def _past(draw: DrawFn, call: ToolCall) -> PastCall:
    """Draw an earlier call, of the same tool more often than not."""
    other = call if not once_in(draw, 3) else draw(calls())
    origin = next(spec.origin for spec in SPECS if spec.name == other.tool)
    minutes = pick(draw, (0.2, 0.9, 5, 10, 59, 90, -2, None))
    assert _NOW is not None
    return PastCall(
        tool=other.tool,
        input=call.input
        if other is call and once_in(draw, 2)
        else draw(calls((other.tool,))).input,
        at=None if minutes is None else _NOW - timedelta(minutes=minutes),
        outcome=pick(draw, ("ok", "ok", "failed", "running")),
        agent=pick(draw, _AGENTS),
        user=pick(draw, (None, "u", "v")),
        origin=origin.kind,
        server=origin.server,
    )


@st.composite
def _limited(draw: DrawFn) -> Situation:
    """Draw a situation with one or two limits, and calls before it."""
    case = draw(situations())
    policy = case.policy
    files = [name for name, _ in policy.files]
    for number in range(draw(st.integers(1, 2))):
        statement = draw(_limits(case.call))
        policy = _with_names(policy, pick(draw, files), f"l-{number}: {statement}")
    try:
        built = build(policy)
    except Unsound:
        assume(False)
        raise
    history = tuple(draw(_past(case.call)) for _ in range(draw(st.integers(0, 4))))
    known = None if once_in(draw, 12) else history
    return replace(case, built=built, facts=replace(case.facts, history=known))


def _with_names(policy: PolicyText, file: str, statement: str) -> PolicyText:
    """Return the policy with a statement, and with the names that it uses."""
    known = {line for name, lines in policy.files if name in (file, GLOBAL) for line in lines}
    for line in PREAMBLE.splitlines():
        is_used = line.split()[1] in re.findall(r"[a-z_]+", statement)
        if is_used and line not in known:
            policy = policy.adding(file, line)
    return policy.adding(file, statement)


def test_the_program_agrees_with_the_oracle_on_limits() -> None:
    tally = Tally()

    @settings(max_examples=examples(1_000), deadline=None)
    @given(_limited())
    def law(case: Situation) -> None:
        expected = reference_decide(
            case.built.trees, SPECS, case.call, case.caller, case.facts, readmit=fits_its_schema
        )
        found = case.decision()
        assert found.verdict is expected.verdict
        if not any(rule.startswith("r") for rule, _ in by_name(expected.rules)):
            assert by_name(opinions(found)) == by_name(expected.rules)
        limited = any(rule.startswith("l-") for rule, _ in opinions(found))
        tally.case("limited" if limited else "not limited", found.verdict.value)

    law()
    tally.shows("limited", share=0.1)
    tally.shows("not limited", share=0.1)


# ------------------------------------------------------------------ splitting


_SPLIT = """\
policy for every agent
default allow
l-a: limit keep, note to 10 of input.n per hour per {scope}
"""
_BUDGET = 10


@settings(max_examples=examples(200), deadline=None)
@given(
    st.sampled_from(["session", "user", "agent"]),
    st.lists(
        st.tuples(
            st.sampled_from(["keep", "note"]),
            st.sampled_from([0, 0.5, 1, 2.5, 5, 5.0, 11]),
            st.sampled_from(["ann", "bob", "eve"]),
            st.sampled_from(["ok", "failed", "running", "cancelled"]),
            st.integers(0, 59),
        ),
        max_size=12,
    ),
)
def test_splitting_over_calls_tools_sub_agents_and_retries_never_exceeds_a_budget(
    scope: str, steps: list[tuple[str, float, str, str, int]]
) -> None:
    text = _SPLIT.format(scope=scope)
    built = build(PolicyText(files=((GLOBAL, tuple(text.splitlines())),)))
    assert _NOW is not None
    root = Caller(agent="root", session="s", user="u")
    history: tuple[PastCall, ...] = ()
    for tool, amount, agent, outcome, minute in steps:
        now = _NOW + timedelta(minutes=minute)
        caller = Caller(agent=agent, session=f"s-{agent}", user="u", parent=root)
        facts = Facts(now=now, history=history, cwd="/srv", workspace="/srv", home="/root")
        call = ToolCall(tool=tool, input={"n": amount, "a": "p", "b": "p"})
        found = decide(built.program, call, caller, facts)
        if found.verdict is Verdict.ALLOW:
            past = PastCall(
                tool=tool,
                input=call.input,
                at=now,
                outcome=outcome,
                agent=agent,
                origin="host",
                chain=(agent, "root"),
            )
            history = (*history, past)
        else:
            assert found.wait is not None or amount > _BUDGET
    # All within one hour, and the root is charged for each of them.
    assert sum(past.input["n"] for past in history) <= _BUDGET

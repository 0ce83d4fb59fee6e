"""Whether a tool is visible before any input is known: hidden only if certainly denied."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import assume, event, given
from hypothesis import strategies as st

from policy.decision import Visibility, visibility_of
from policy.diagnostics import has_errors
from policy.layers import merge
from policy.model import Caller, GuestScope, Verdict
from policy.program import compile_policy
from tests.unit.checks.checking import checked
from tests.unit.program.compiling import ANN, HERE, ask, program, tools

NOW = datetime(2026, 6, 3, 10, tzinfo=UTC)


@pytest.mark.parametrize(
    ("body", "tool", "expected"),
    [
        ("default deny", "pay", "hidden"),
        ("default allow", "pay", "open"),
        ("default ask", "pay", "asks"),
        ("default deny\na: allow pay when input.amount < 1", "pay", "open"),
        ("default deny\na: allow pay with approval", "pay", "asks"),
        ("default allow\na: deny pay", "pay", "hidden"),
        ("default allow\na: deny pay when input.amount < 1", "pay", "open"),
        ("default allow\na: shadow deny pay", "pay", "open"),
        ("default allow\na: ask pay when input.amount > 1", "pay", "asks"),
        ("default deny\ndefault allow for pay", "pay", "open"),
        ("default allow\ndefault deny for pay", "pay", "hidden"),
        ('default deny\ndelegate pay to agent "bob"', "pay", "hidden"),
        ("default allow", "confirmed", "asks"),
        ("default allow", "no_such_tool", "hidden"),
    ],
)
def test_the_outlook_of_a_tool(body: str, tool: str, expected: str) -> None:
    assert visibility_of(program(body), tool, ANN, HERE) == expected


def test_a_delegation_opens_a_tool_to_those_it_names() -> None:
    asked = program(
        {
            "a.policy": 'policy for every agent\ndefault deny\ndelegate pay to agent "ann"',
            "b.policy": 'policy for agent "ann"\nx: allow pay when input.amount < 1',
        }
    )
    assert visibility_of(asked, "pay", ANN, HERE) is Visibility.OPEN
    assert visibility_of(asked, "pay", Caller(agent="bob"), HERE) is Visibility.HIDDEN
    assert (
        visibility_of(asked, "pay", replace(ANN, parent=Caller(agent="bob")), HERE)
        is Visibility.HIDDEN
    )


def test_identity_hides_what_it_denies() -> None:
    asked = program("default allow")
    guest = replace(ANN, role="guest", scope=GuestScope(allowed_tools=("look*",)))
    assert visibility_of(asked, "lookup", guest, HERE) is Visibility.OPEN
    assert visibility_of(asked, "pay", guest, HERE) is Visibility.HIDDEN
    assert visibility_of(asked, "lookup", replace(ANN, role="anonymous"), HERE) is Visibility.HIDDEN
    brief = replace(guest, scope=GuestScope(allowed_tools=("*",), expires_at=NOW))
    assert visibility_of(asked, "pay", brief, replace(HERE, now=NOW)) is Visibility.HIDDEN
    before = replace(HERE, now=NOW - timedelta(seconds=1))
    assert visibility_of(asked, "pay", brief, before) is Visibility.OPEN


# ------------------------------------------------------------------ the law

TOOLS = ("t", "u", "confirmed")
CONDITIONS = (
    "",
    " when input.x == 1",
    " when input.x > 3",
    ' unless input.x == "p"',
    " when input.x is absent",
    ' when agent.name == "ann"',
    ' when session.role != "clerk"',
    " when now within 08:00..18:00",
)
selectors = st.sampled_from([*TOOLS, "*", "t, u", "* except t", "conf*"])
rules = st.builds(
    lambda shadow, effect, tools, condition, approval: (
        f"{shadow}{effect} {tools}{condition}{approval if effect == 'allow' else ''}"
    ),
    st.sampled_from(["", "", "", "shadow "]),
    st.sampled_from(["allow", "ask", "deny"]),
    selectors,
    st.sampled_from(CONDITIONS),
    st.sampled_from(["", "", " with approval"]),
)
more_defaults = st.builds(
    lambda verdict, tools: f"default {verdict} for {tools}",
    st.sampled_from(["allow", "ask", "deny"]),
    selectors,
)
delegations = st.builds(
    lambda tools, to: f"delegate {tools} to {to}",
    selectors,
    st.sampled_from(['agent "ann"', 'role "clerk"']),
)
plain = st.sampled_from(["default allow", "default ask", "default deny"])


def body(lines: list[str], name: str) -> str:
    """Name the rules among the statements, and put one on a line."""
    return "\n".join(
        line if line.startswith(("default", "delegate")) else f"{name}{place}: {line}"
        for place, line in enumerate(lines)
    )


@st.composite
def policies(draw: st.DrawFn) -> dict[str, str]:
    top = [draw(plain), *draw(st.lists(st.one_of(rules, more_defaults, delegations), max_size=4))]
    files = {"global.policy": f"policy for every agent\n{body(top, 'a')}"}
    for header, name in (('agent "ann"', "b"), ('role "clerk"', "c")):
        lines = draw(st.lists(st.one_of(rules, more_defaults), max_size=3))
        if draw(st.booleans()):
            lines.append(draw(plain.filter(lambda line: line != "default allow")))
        if lines:
            files[f"{name}.policy"] = f"policy for {header}\n{body(lines, name)}"
    return files


scopes = st.sampled_from(
    [
        None,
        GuestScope(),
        GuestScope(allowed_tools=("t",)),
        GuestScope(allowed_tools=("*",), expires_at=NOW),
    ]
)
callers = st.builds(
    lambda agent, role, scope, parent: Caller(agent=agent, role=role, scope=scope, parent=parent),
    st.sampled_from(["ann", "bob"]),
    st.sampled_from(["owner", "clerk", "guest", "anonymous"]),
    scopes,
    st.sampled_from([None, Caller(agent="bob"), Caller(agent="ann", role="clerk")]),
)
values = st.sampled_from([{}, {"x": 1}, {"x": 5}, {"x": "p"}, {"x": []}, {"x": None}])


@given(files=policies(), caller=callers, now=st.sampled_from([None, NOW]), input=values)
def test_what_is_hidden_is_denied_and_what_is_open_never_asks(
    files: dict[str, str], caller: Caller, now: datetime | None, input: dict[str, object]
) -> None:
    found = checked(files, catalog=tools())
    merged = merge(found.policies, tools())
    # A policy with a statement that does nothing is refused; the law is about the others.
    assume(not has_errors((*found.diagnostics, *merged.diagnostics)))
    asked = compile_policy(merged.policy, tools())
    facts = replace(HERE, now=now)
    for tool in TOOLS:
        hope = visibility_of(asked, tool, caller, facts)
        event(str(hope))
        decision = ask(asked, tool, input, caller=caller, facts=facts).decision
        if hope is Visibility.HIDDEN:
            assert decision.verdict is Verdict.DENY
        elif hope is Visibility.OPEN:
            assert decision.verdict is not Verdict.ASK

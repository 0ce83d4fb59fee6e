"""A line of input is read as a call, or its first problem is reported."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy.cli.calls import CallToDecide, NotACall, read_call
from policy.model import Caller, Facts, GuestScope, PastCall, Resolvers, SandboxTier

WORDS = st.sampled_from(["a", "/srv", "2026-01-01T00:00:00Z", "today", "ok", "", "é"])
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.just(1.5) | WORDS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(WORDS, inner, max_size=2),
    max_leaves=4,
)
FIELDS = ("id", "tool", "input", "cwd", "caller", "now", "said", "facts", "history", "further")


def read(line: Any) -> CallToDecide | NotACall:
    return read_call(json.dumps(line), disk=Resolvers())


@given(st.dictionaries(st.sampled_from(FIELDS), ANYTHING))
def test_every_line_is_a_call_or_says_why_not(line: dict[str, Any]) -> None:
    found = read(line)
    if isinstance(found, NotACall):
        assert found.code == "not-a-call"
        assert found.message.startswith("`")
    else:
        assert found.tool == line["tool"]


def test_a_line_says_who_calls_and_in_what_world() -> None:
    noon = "2026-01-01T12:00:00Z"
    found = read(
        {
            "id": 7,
            "tool": "t",
            "input": {"a": [1]},
            "cwd": "/srv",
            "workspace": "/w",
            "home": "/h",
            "caller": {
                "agent": "coder",
                "groups": ["finance"],
                "scope": {"allowed_tools": ["t"], "expires_at": noon},
                "parent": {"agent": "root", "user": "ada"},
            },
            "now": noon,
            "said": ["go on"],
            "facts": {
                "context": {"branch": "main"},
                "sandbox": {"tier": "bubblewrap", "enforces": ["reads"]},
            },
            "history": [{"tool": "u", "input": {"b": [2]}, "outcome": "failed", "at": noon}],
        }
    )
    at = datetime(2026, 1, 1, 12, tzinfo=UTC)
    assert isinstance(found, CallToDecide)
    assert (found.id, found.tool, found.input) == (7, "t", {"a": (1,)})
    assert found.caller == Caller(
        agent="coder",
        groups=("finance",),
        scope=GuestScope(allowed_tools=("t",), expires_at=at),
        parent=Caller(agent="root", user="ada"),
    )
    assert found.facts == Facts(
        cwd="/srv",
        workspace="/w",
        home="/h",
        now=at,
        said=("go on",),
        context={"branch": "main"},
        sandbox=SandboxTier(name="bubblewrap", enforces=frozenset({"reads"})),
        history=(PastCall(tool="u", input={"b": (2,)}, outcome="failed", at=at),),
    )


def test_a_line_need_only_name_the_tool() -> None:
    found = read({"tool": "t"})
    assert isinstance(found, CallToDecide)
    assert (found.id, found.input, found.caller, found.facts) == (None, None, Caller(), Facts())


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ({}, "`tool` is missing"),
        ({"tool": None}, "`tool` is not a string"),
        ({"tool": "t", "id": True}, "`id` is neither a string nor an integer"),
        ({"tool": "t", "id": 1.5}, "`id` is neither a string nor an integer"),
        ({"tool": "t", "cwd": "srv"}, "`cwd` is not an absolute path"),
        ({"tool": "t", "now": "today"}, "`now` is not a time like 2026-03-01T08:00:00Z: `today`"),
        ({"tool": "t", "now": 1}, "`now` is not a string"),
        ({"tool": "t", "said": "go on"}, "`said` is not a list"),
        ({"tool": "t", "said": [1]}, "`said.0` is not a string"),
        ({"tool": "t", "caller": "coder"}, "`caller` is not an object"),
        ({"tool": "t", "caller": {"parent": {"groups": [1]}}}, "`caller.parent.groups.0` is no"),
        ({"tool": "t", "history": [{}]}, "`history.0.tool` is missing"),
        (
            {"tool": "t", "history": [{"tool": "u", "outcome": "done"}]},
            "`history.0.outcome` is none of `ok`, `failed`, `timeout`, `cancelled`, `running`",
        ),
        ({"tool": "t", "facts": {"resolver": {"a.example": "10.0.0.1"}}}, "`facts.resolver.a.ex"),
        ({"tool": "t", "facts": {"context": []}}, "`facts.context` is not an object"),
        ({"tool": "t", "facts": {"sandbox": "full"}}, "`facts.sandbox` is not an object"),
        (
            {"tool": "t", "facts": {"sandbox": {"tier": "x", "enforces": ["runs"]}}},
            "`facts.sandbox.enforces.0` is none of `reads`, `writes`, `connects`",
        ),
        ({"tool": "t", "further": 1}, "`further` is not a field of a call"),
        (
            {"tool": "t", "caller": {"rol": "guest"}},
            "`caller.rol` is not a field of a call: did you mean `role`?",
        ),
    ],
)
def test_the_first_problem_is_told_with_its_place(line: dict[str, Any], said: str) -> None:
    found = read(line)
    assert isinstance(found, NotACall)
    assert found.message.startswith(said)


@pytest.mark.parametrize(
    ("resolver", "name", "expected"),
    [
        ({"a.example": ["10.0.0.1"]}, "a.example", ("10.0.0.1",)),
        ({"a.example": None}, "a.example", None),
        ({}, "a.example", None),
    ],
)
def test_hosts_are_answered_by_the_line(
    resolver: dict[str, Any], name: str, expected: tuple[str, ...] | None
) -> None:
    found = read({"tool": "x", "facts": {"resolver": resolver}})
    assert isinstance(found, CallToDecide) and found.facts.resolvers.host is not None
    assert found.facts.resolvers.host(name) == expected

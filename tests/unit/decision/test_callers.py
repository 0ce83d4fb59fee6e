"""A caller is never guessed, and no input makes a decision raise."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

import policy
from policy.catalog import Origin, ToolSpec, select_name
from policy.decision import identity_reasons
from policy.model import Verdict

_CALL = policy.ToolCall(tool="file_read", input={"path": "/srv/work/a"})


@pytest.fixture(scope="module")
def generation(tmp_path_factory: pytest.TempPathFactory) -> policy.Generation:
    file: Path = tmp_path_factory.mktemp("callers") / "global.policy"
    file.write_text(
        "policy for every agent\n\ndefault allow\n\n"
        'net: deny web_fetch when connects to private\nkeys: deny * when reads "/etc/**"\n'
    )
    return policy.load(file)


@pytest.mark.parametrize("role", ["anonymous", "Anonymous", " ANONYMOUS", "anonymous\u200b", ""])
def test_what_looks_like_anonymous_is(generation: policy.Generation, role: str) -> None:
    decision = generation.decide(_CALL, policy.Caller(role=role))
    assert (decision.verdict, decision.reasons[0].rule) == (Verdict.DENY, "identity")


@pytest.mark.parametrize("role", ["guest", "Guest", "GUEST ", "guest\u200b"])
def test_what_looks_like_a_guest_is(generation: policy.Generation, role: str) -> None:
    decision = generation.decide(_CALL, policy.Caller(role=role))
    assert (decision.verdict, decision.reasons[0].rule) == (Verdict.DENY, "scope")


@pytest.mark.parametrize("role", ["guest", "Guest", " GUEST", "gu\u200best"])
@pytest.mark.parametrize("tool", ["file_read", "file_write", "file_list", "bash_exec"])
def test_no_spelling_of_guest_slips_out_of_what_is_said_of_guests(
    role: str, tool: str, tmp_path: Path
) -> None:
    (tmp_path / "global.policy").write_text(
        "policy for every agent\n\ndefault deny\n\n"
        "all: allow file_read, file_write, file_list\n"
        'read: deny file_read when session.role == "guest"\n'
        'list: deny file_list when "guest" in agent.roles\n'
        'run: allow bash_exec when session.role != "guest"\n'
    )
    (tmp_path / "guests.policy").write_text('policy for role "guest"\n\nno: deny file_write\n')
    guest = policy.Caller(role=role, scope=policy.GuestScope(allowed_tools=("*",)))
    inputs = {
        "file_write": {"path": "/srv/work/a", "content": ""},
        "bash_exec": {"command": "true"},
    }
    call = policy.ToolCall(tool=tool, input=inputs.get(tool, {"path": "/srv/work/a"}))
    generation = policy.load(tmp_path)
    for caller in (guest, policy.Caller(parent=guest)):
        assert generation.decide(call, caller).verdict is Verdict.DENY
    assert generation.decide(call, policy.Caller(role="staff")).verdict is Verdict.ALLOW


_SPECS = (
    ToolSpec(name="ab", origin=Origin(tool="ab")),
    ToolSpec(name="a__b", origin=Origin(tool="a__b")),
    ToolSpec(name="a__b", origin=Origin(kind="mcp", server="a", tool="b")),
    ToolSpec(name="a___b", origin=Origin(kind="mcp", server="a_", tool="b")),
    ToolSpec(name="ext__a__b", origin=Origin(kind="ext", server="a", tool="b")),
    ToolSpec(name="a__b", origin=Origin(kind="mcp", server="a", tool="b"), version=2),
)
_PATTERNS = st.one_of(
    st.text(),
    st.lists(st.sampled_from(["a", "__", "_", "b", "*", "?", "ext", "\\", "@2"])).map("".join),
)


@given(patterns=st.lists(_PATTERNS, max_size=3), spec=st.sampled_from(_SPECS))
def test_a_scope_reaches_what_an_allow_of_its_patterns_does(
    patterns: list[str], spec: ToolSpec
) -> None:
    scope = policy.GuestScope(allowed_tools=tuple(patterns))
    guest = policy.Caller(role="guest", scope=scope)
    given_by = [select_name(text, grants=True) for text in patterns if text]
    inside = any(one.matches(spec) for one in given_by)
    event(f"inside: {inside}")
    assert (not [*identity_reasons(guest, spec, None)]) is inside


def test_what_a_rule_asks_of_the_depth_is_not_counted_anew_for_each_caller(tmp_path: Path) -> None:
    (tmp_path / "global.policy").write_text(
        "policy for every agent\n\ndefault allow\n\ndeep: deny file_read when agent.depth > 9000\n"
    )
    asked = policy.load(tmp_path)

    def lines(depth: int) -> int:
        """Return how many lines of Python run to judge a chain of this depth."""
        caller = policy.Caller()
        for _ in range(depth):
            caller = policy.Caller(parent=caller)
        run, before = 0, sys.gettrace()

        def count(frame: object, event: str, arg: object) -> Any:
            nonlocal run
            run += event == "line"
            return count

        sys.settrace(count)
        try:
            decision = asked.decide(_CALL, caller)
        finally:
            sys.settrace(before)
        assert decision.verdict is Verdict.ALLOW
        return run

    lines(100)
    assert lines(800) < 3 * lines(400)


def test_a_role_of_your_own_is_free(generation: policy.Generation) -> None:
    assert generation.decide(_CALL, policy.Caller(role="reviewer")).verdict is Verdict.ALLOW


@pytest.mark.parametrize(
    "fields",
    [
        {"role": None},
        {"role": 5},
        {"agent": 1},
        {"session": None},
        {"scope": {}},
        {"parent": "x"},
        {"groups": "admins"},
        {"user": 7},
    ],
)
def test_a_caller_of_other_types_is_none(fields: dict[str, Any]) -> None:
    with pytest.raises(TypeError):
        policy.Caller(**fields)


@pytest.mark.parametrize(
    "fields", [{"allowed_tools": "*"}, {"allowed_tools": (5,)}, {"expires_at": "2020-01-01"}]
)
def test_a_scope_of_other_types_is_none(fields: dict[str, Any]) -> None:
    with pytest.raises(TypeError):
        policy.GuestScope(**fields)


def test_a_scope_without_a_zone_expires_in_utc(generation: policy.Generation) -> None:
    scope = policy.GuestScope(allowed_tools=("*",), expires_at=datetime(2027, 1, 1))  # noqa: DTZ001
    caller = policy.Caller(role="guest", scope=scope)
    for year, verdict in ((2026, Verdict.ALLOW), (2027, Verdict.DENY)):
        facts = policy.Facts(now=datetime(year, 1, 1, tzinfo=UTC))
        assert generation.decide(_CALL, caller, facts=facts).verdict is verdict


def test_a_resolver_that_fails_does_not_answer(generation: policy.Generation) -> None:
    def fails(_: str) -> Any:
        raise OSError("no answer")

    facts = policy.Facts(resolvers=policy.Resolvers(path=fails, host=fails), workspace="/srv")
    page = policy.ToolCall(tool="web_fetch", input={"url": "https://a.example/"})
    for call in (_CALL, page):
        decision = generation.decide(call, facts=facts)
        assert decision.verdict is Verdict.DENY
        assert decision.reasons[0].undecided

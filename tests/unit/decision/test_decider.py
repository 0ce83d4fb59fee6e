"""Raw calls become decisions: never an exception, and the same for equal calls."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st

from policy.decision import GenerationId, answer, decide
from policy.model import Caller, Facts, ToolCall, Verdict
from tests.unit.program.compiling import ANN, HERE, ask, program

BODY = """default deny
paths project = "/srv/project/**" except "**/.git/**"
hosts corp = "corp.example", "*.corp.example"
reads: allow file_read, file_list when reads only project
fetch: allow web_fetch when connects only to corp
shell: allow bash_exec when runs only ["ls *", "git status"]
odd: allow t when input.x.y[0] < 5 and (any e in input.y: e contains "a")
note: ask t unless length(input.z) > 3
pays: allow pay when input.amount + 1 < 100
fix: rewrite t redact input.z matching /[0-9]+/
cap: rewrite bash_exec set input.timeout = at most 60
no: deny * when reads "**/.env" or connects to [private, loopback]
"""
POLICY = program(BODY)
TOOLS = ["file_read", "file_list", "web_fetch", "bash_exec", "t", "pay", "mystery", "nothing", ""]

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(["/srv/project/a", "~/x", "https://corp.example", "ls -la", "$(x)", "\x00"]),
)
json_values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=6,
)
fields = st.sampled_from(["path", "url", "command", "timeout", "x", "y", "z", "amount", "p", "q"])
inputs = st.one_of(json_values, st.dictionaries(fields, json_values, max_size=3))


@given(tool=st.one_of(st.sampled_from(TOOLS), st.text(max_size=8)), input=inputs)
def test_every_call_gets_a_verdict_and_a_reason(tool: str, input: object) -> None:
    found = ask(POLICY, tool, input)
    decision = found.decision
    assert decision.verdict in (Verdict.ALLOW, Verdict.ASK, Verdict.DENY)
    assert decision.deciding
    assert (found.admitted is None) != (found.refused is None)
    assert found.admitted is not None or decision.verdict is Verdict.DENY


@given(tool=st.sampled_from(TOOLS), input=inputs)
def test_the_same_call_gets_the_same_decision(tool: str, input: object) -> None:
    assert ask(POLICY, tool, input).decision == ask(POLICY, tool, input).decision


@given(tool=st.sampled_from(TOOLS), input=inputs)
def test_what_would_run_is_admitted_as_it_is(tool: str, input: object) -> None:
    """Deciding the final call once more says no more than was said: nothing is left to change."""
    first = ask(POLICY, tool, input).decision
    if first.verdict is Verdict.ALLOW:
        again = ask(POLICY, first.call.tool, first.call.input).decision
        assert (again.verdict, again.call) == (first.verdict, first.call)


def test_the_deciding_reasons_stand_first() -> None:
    asked = program("default ask\na: allow pay\nb: ask pay\nc: deny pay\nd: deny pay")
    decision = ask(asked, "pay").decision
    assert [reason.rule for reason in decision.reasons] == ["c", "d", "b", "a"]
    assert [reason.rule for reason in decision.deciding] == ["c", "d"]


def test_reasons_do_not_depend_on_the_order_of_files() -> None:
    texts = [
        ("a.policy", "policy for every agent\ndefault deny\nq: allow pay\nz: deny pay"),
        ("b.policy", 'policy for agent "ann"\nr: ask pay'),
        ("c.policy", "policy for every agent\ns: deny pay\nt: ask pay"),
    ]
    found = {
        tuple(r.rule for r in ask(program(dict(order)), "pay").decision.reasons)
        for order in permutations(texts)
    }
    assert found == {("z", "s", "t", "r", "q")}


def test_one_rule_is_a_reason_once_however_many_callers_it_binds() -> None:
    asked = program("default allow\nno: deny pay")
    child = Caller(agent="c", parent=Caller(agent="b", parent=ANN))
    decision = ask(asked, "pay", caller=child).decision
    assert [reason.rule for reason in decision.reasons] == ["no", "default"]


def test_a_call_of_no_known_tool_is_denied_by_schema() -> None:
    decision = decide(POLICY, ToolCall(tool="nothing", input={"x": 1}), ANN, HERE)
    assert [reason.rule for reason in decision.reasons] == ["schema"]
    assert decision.verdict is Verdict.DENY


def test_a_decision_says_which_generation_decided() -> None:
    generation = GenerationId(number=7, digest="sha256:1")
    for tool in ("pay", "nothing"):
        found = answer(POLICY, tool, {}, ANN, Facts(), generation=generation)
        assert found.decision.generation == generation


def test_many_threads_get_the_answers_that_one_gets() -> None:
    calls: list[tuple[str, dict[str, object]]] = []
    for i in range(60):
        calls.append(("file_read", {"path": f"/srv/project/{i}/{'.env' if i % 3 else ''}"}))
        calls.append(("bash_exec", {"command": "ls" if i % 2 else "rm x", "timeout": i}))
    callers = [Caller(agent=f"a{i % 7}", parent=ANN if i % 2 else None) for i in range(120)]
    expected = [
        ask(program(BODY), tool, given, caller=caller).decision
        for (tool, given), caller in zip(calls, callers, strict=True)
    ]
    fresh = program(BODY)  # nothing of it has been planned yet
    with ThreadPoolExecutor(max_workers=8) as pool:
        for _ in range(5):
            found = list(
                pool.map(
                    lambda job: ask(fresh, job[0][0], job[0][1], caller=job[1]).decision,
                    zip(calls, callers, strict=True),
                )
            )
            assert found == expected

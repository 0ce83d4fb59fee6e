"""A call that is shown parses where it is pasted as a test, means the same, and fails there."""

from __future__ import annotations

from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from policy.catalog import Catalog
from policy.checks import PolicySources, check
from policy.decision import answer
from policy.layers import merge
from policy.model import Source, Verdict
from policy.program import compile_policy
from policy.symbolic import Situation, Values
from policy.syntax import parse, write_text
from policy.verify import run_examples
from policy.verify.proof.counterexample import call_text, given_text
from tests.laws.engine import FREE
from tests.unit.verify.proving import tool

RULES = "policy for every agent\ndefault allow\n"
NAMES = st.one_of(
    st.sampled_from(["a b", "given", "after", "by", "mcp", "test", "allow", 'q"x', "a\\b", "-a"]),
    st.text(st.characters(codec="utf-8", exclude_characters="*?/"), min_size=1),
)
TEXTS = st.text(st.characters(codec="utf-8"))
VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(2**53), 2**53),
        st.sampled_from([5e-08, -5e-08, 0.1, 1e20, 1.5e-12, 123456.789]),
        TEXTS,
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXTS, inner, max_size=3)),
    max_leaves=6,
)
AGENTS = st.text("ab\u202e\u200b\n\x1bé", min_size=1)


@given(name=NAMES, value=VALUES, fact=TEXTS, agent=AGENTS)
@example(name="a b", value={"n": 5e-08}, fact="\x1b[0m", agent="guest\u200b")
@example(name="given", value="é\u202e\U000e0041", fact="é", agent="\u202e")
@settings(max_examples=20)
def test_a_call_pasted_as_a_test_is_the_same_call_and_fails(
    name: str, value: Any, fact: str, agent: str
) -> None:
    spec = tool(name, {"r": {}})
    values: Values = {("input", "r"): value, ("agent", "name"): agent, ("user", "id"): fact}
    shown = Situation(spec=spec, base={}, values=values)
    text = f"{RULES}test {write_text(fact)}\n  given {given_text(shown)}\n  {call_text(shown)}"
    parsed = parse(Source(name="global.policy", text=f"{text} -> deny\n"))
    assert not parsed.diagnostics
    catalog = Catalog(specs=(spec,), complete=True)
    checked = check(PolicySources(files=(parsed.tree,)), catalog)
    assert not checked.diagnostics
    program = compile_policy(merge(checked.policies, catalog).policy, catalog, profiles=FREE)
    (result,) = run_examples(checked.suites, program, catalog=catalog)
    assert result.decision is not None
    decided = answer(program, name, shown.input, shown.caller, shown.facts).decision
    assert result.decision.verdict is decided.verdict
    assert result.passed is (decided.verdict is Verdict.DENY)
    assert result.title == fact
    called = result.decision.call
    assert (called.tool, called.input["r"]) == (name, _frozen(value))


def _frozen(value: Any) -> Any:
    match value:
        case list():
            return tuple(map(_frozen, value))
        case dict():
            return {key: _frozen(each) for key, each in value.items()}
        case _:
            return value

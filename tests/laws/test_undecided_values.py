"""Absent, unknown or unreadable values grant nothing more and disable no deny."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policy.model import Caller, ToolCall, Verdict
from tests.examples import examples
from tests.laws.calls import json_values
from tests.laws.conditions import conditions, literal
from tests.laws.engine import build
from tests.laws.hand_cases import HANDS
from tests.laws.policies import GLOBAL, PREAMBLE, PolicyText
from tests.laws.situations import Situation, Tally, rank, situations, without_words

MANY = settings(max_examples=examples(250))
PLAIN = ("note", "nota", "risky", "bank__pay")


_KINDS: dict[str, tuple[list[Any], list[Any]]] = {
    "a": (["p", "q", "pq", "z"], [True, {"odd": 1}]),
    "b": (["p", "q", "z"], [True, {"odd": 1}]),
    "n": ([1, 5, 2.5, 9], [True, {"odd": 1}, 2**60 + 1]),
    "box": ([{"c": "p"}, {"c": 5}, {"c": "z"}], [True]),
}


def test_an_indeterminate_value_never_loosens_the_verdict() -> None:
    tally = Tally()
    undecided = without_words(" is a ")

    @MANY
    @given(situations(tools=PLAIN, keeping=undecided), st.data())
    def law(case: Situation, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(sorted(_KINDS)))
        decidable, odd = _KINDS[name]
        plain = case.with_input(**{name: data.draw(st.sampled_from(decidable))}).decision()
        unread = case.with_input(**{name: data.draw(st.sampled_from(odd))}).decision()
        assert rank(unread) >= rank(plain)
        tally.case(
            plain.verdict.value,
            "stricter" if rank(unread) > rank(plain) else "same",
        )

    law()
    tally.shows("allow")
    tally.shows("stricter", share=0.02)


def test_an_unreadable_resource_never_loosens_the_verdict() -> None:
    tally = Tally()
    readable = {
        "look": ["/srv/p/x", "/etc/x"],
        "keep": ["/srv/p/x", "/etc/x"],
        "fetch": ["corp.example", "http://10.0.0.7/", "evil.example"],
        "shell": ["git status", "rm x", "ls; rm x"],
    }

    @MANY
    @given(
        situations(tools=tuple(readable), keeping=without_words(" is a ")),
        st.data(),
    )
    def law(case: Situation, data: st.DataObject) -> None:
        value = data.draw(st.sampled_from(readable[case.call.tool]))
        plain = case.with_input(a=value).decision()
        unread = case.with_input(a=7).decision()
        assert rank(unread) >= rank(plain)
        tally.case(plain.verdict.value, "stricter" if rank(unread) > rank(plain) else "same")

    law()
    tally.shows("allow", share=0.05)
    tally.shows("stricter", share=0.02)


_PRESENCE = ("absent", "present", "has_box")


def test_omitting_a_field_permits_nothing_more() -> None:
    tally = Tally()

    @MANY
    @given(st.data())
    def law(data: st.DataObject) -> None:
        call = ToolCall(tool="note", input=data.draw(_inputs()))
        when = data.draw(conditions(call, permits=True))
        unless = data.draw(conditions(call, permits=False))
        clauses = data.draw(
            st.sampled_from([f"when {when}", f"unless {unless}", f"when {when} unless {unless}"])
        )
        if any(word in clauses for word in _PRESENCE):
            return
        name = data.draw(st.sampled_from(sorted(call.input)))
        case = _one_rule("default deny", f"z-0: allow note {clauses}", call)
        without = case.with_input(**{name: ...}).decision()
        if without.verdict is Verdict.ALLOW:
            assert case.decision().verdict is Verdict.ALLOW
        tally.case(without.verdict.value, "reads it" if f"input.{name}" in clauses else "does not")

    law()
    tally.shows("allow")
    tally.shows("deny")
    tally.shows("reads it", share=0.2)


def test_omitting_a_field_disables_no_deny_through_its_unless() -> None:
    tally = Tally()

    @MANY
    @given(st.data())
    def law(data: st.DataObject) -> None:
        call = ToolCall(tool="note", input=data.draw(_inputs()))
        unless = data.draw(conditions(call, permits=True))
        if any(word in unless for word in _PRESENCE):
            return
        name = data.draw(st.sampled_from(sorted(call.input)))
        case = _one_rule("default allow", f"z-0: deny note unless {unless}", call)
        if case.decision().verdict is Verdict.DENY:
            assert case.with_input(**{name: ...}).decision().verdict is Verdict.DENY
        tally.case(
            case.decision().verdict.value,
            "reads it" if f"input.{name}" in unless else "does not",
        )

    law()
    tally.shows("allow")
    tally.shows("deny")
    tally.shows("reads it", share=0.2)


def _inputs() -> st.SearchStrategy[dict[str, Any]]:
    words = st.sampled_from(["p", "q", "pq"])
    return st.fixed_dictionaries(
        {"a": words, "b": words, "n": st.sampled_from([1, 5, 2.5])},
        optional={"tags": st.lists(words, min_size=1, max_size=3), "box": st.just({"c": "p"})},
    )


def _one_rule(default: str, rule: str, call: ToolCall) -> Situation:
    lines = ("policy for every agent", default, *PREAMBLE.splitlines(), rule)
    policy = PolicyText(files=((GLOBAL, lines),))
    case = Situation(
        built=build(PolicyText(files=((GLOBAL, lines[:2]),))),
        call=call,
        caller=Caller(agent="ann"),
        facts=HANDS[0].facts,
    )
    return case.under(policy)


_COMMON = st.sampled_from(["p", 5, "q", 1, None, ["p"]])
_ANYTHING = st.one_of(_COMMON, _COMMON, json_values())
# What a rule names, and a value that is often just that.
_PAIRS = st.sampled_from(["p", 5, ""]).flatmap(
    lambda named: st.tuples(st.just(named), st.one_of(st.just(named), _ANYTHING))
)


@pytest.mark.parametrize(
    ("short", "long"),
    [("input.a != {}", "not (input.a == {})"), ("input.a not in [{}]", "not (input.a in [{}])")],
)
@pytest.mark.parametrize("rule", ["allow note when", "deny note when", "deny note unless"])
def test_a_negated_word_is_the_negation_of_the_word(rule: str, short: str, long: str) -> None:
    tally = Tally()

    @given(_PAIRS, st.booleans())
    def law(pair: tuple[Any, Any], given_it: bool) -> None:
        other, value = pair
        default = "default deny" if rule.startswith("allow") else "default allow"
        call = ToolCall(tool="note", input={"a": value} if given_it else {})
        first, second = (
            _one_rule(default, f"z-0: {rule} {test.format(literal(other))}", call).decision()
            for test in (short, long)
        )
        assert first.verdict is second.verdict
        tally.case(first.verdict.value)

    law()
    tally.shows("allow", share=0.02)
    tally.shows("deny", share=0.02)


@given(st.sampled_from(["c", "d"]), st.sampled_from(["p", 5]), json_values())
def test_a_value_of_the_wrong_type_disables_no_deny(step: str, value: Any, odd: Any) -> None:
    rule = f"z-0: deny note when input.box.{step} == {literal(value)}"
    case = _one_rule("default allow", rule, ToolCall(tool="note", input={"box": {step: value}}))
    assert case.decision().verdict is Verdict.DENY
    if odd is not None and not isinstance(odd, dict | list):
        assert case.with_input(box=odd).decision().verdict is Verdict.DENY

"""Laws about decisions for every policy, call and caller."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policy.catalog import Catalog
from policy.decision import Decision, answer, decide
from policy.model import Source, Terms, ToolCall, Verdict, strictest, thaw
from policy.syntax import parse, print_tree
from tests.examples import examples
from tests.laws.calls import NAMES, SPECS, json_values
from tests.laws.engine import build, build_over, fits_its_schema
from tests.laws.hand_cases import HANDS, Hand
from tests.laws.policies import GLOBAL, PREAMBLE, PolicyText, rules
from tests.laws.situations import (
    Situation,
    Tally,
    by_name,
    delegates,
    opinions,
    other_files,
    rank,
    situations,
    spelled,
    without_words,
)
from tests.reference import Answer, reference_decide, wants_of

MANY = settings(max_examples=examples(250))
PLAIN = ("note", "nota", "risky", "bank__pay")


# ------------------------------------------------------------------ the join

VERDICTS = st.lists(st.sampled_from(list(Verdict)), max_size=4)


@given(VERDICTS, st.randoms(use_true_random=False))
def test_the_join_is_commutative_and_idempotent(verdicts: list[Verdict], random: Any) -> None:
    shuffled = verdicts * 2
    random.shuffle(shuffled)
    assert strictest(shuffled) is strictest(verdicts)


@given(VERDICTS, VERDICTS)
def test_the_join_is_associative(left: list[Verdict], right: list[Verdict]) -> None:
    assert strictest([strictest(left), strictest(right)]) is strictest(left + right)


def test_the_join_is_an_upper_bound() -> None:
    for pair in itertools.product(Verdict, repeat=2):
        assert strictest(pair).rank == max(one.rank for one in pair)


# ------------------------------------------------------------------ the oracle


@pytest.mark.parametrize("hand", HANDS, ids=lambda hand: hand.title)
def test_the_engine_decides_the_cases_worked_out_by_hand(hand: Hand) -> None:
    texts = {GLOBAL: "policy for every agent\n" + hand.base, **hand.others}
    policy = PolicyText(
        files=tuple((name, tuple(text.splitlines())) for name, text in texts.items())
    )
    call = ToolCall(tool=hand.tool, input=hand.input)
    decision = decide(build(policy).program, call, hand.caller, hand.facts)
    assert decision.verdict is hand.verdict, decision.reasons
    assert hand.by is None or hand.by in {reason.rule for reason in decision.deciding}
    assert hand.becoming is None or thaw(decision.call.input) == hand.becoming


def _oracle(case: Situation) -> Answer:
    return reference_decide(
        case.built.trees, SPECS, case.call, case.caller, case.facts, readmit=fits_its_schema
    )


def test_the_program_agrees_with_the_oracle() -> None:
    tally = Tally()

    @settings(MANY, max_examples=examples(1_000))
    @given(situations())
    def law(case: Situation) -> None:
        expected, found = _oracle(case), case.decision()
        assert found.verdict is expected.verdict
        if found.verdict is not Verdict.DENY:
            assert thaw(found.call.input) == thaw(expected.input)
            assert by_name(opinions(found)) == by_name(expected.rules)
            live = {reason.rule for reason in found.redactions if not reason.shadow}
            assert live == expected.redactions
        tally.case(
            found.verdict.value,
            *(f"rule {verdict.value}" for _, verdict in by_name(opinions(found))),
            "rewritten" if found.rewritten else "as asked",
            *("redacted",) * bool(found.redactions),
        )

    law()
    for verdict in ("allow", "ask", "deny"):
        tally.shows(verdict)
        tally.shows(f"rule {verdict}")
    tally.shows("rewritten", share=0.05)
    tally.shows("redacted", share=0.05)


def test_an_ask_states_the_approval_it_requires() -> None:
    tally = Tally()

    @settings(MANY, max_examples=examples(500))
    @given(situations())
    def law(case: Situation) -> None:
        wants = wants_of(case.built.trees)
        for reason in case.decision().reasons:
            if reason.verdict is not Verdict.ASK or reason.rule == "confirmation":
                assert reason.terms is None
                continue
            assert reason.terms is not None
            assert reason.terms.digest is not None
            groups, two, remember = wants.get(reason.rule, ((), False, None))
            assert (reason.terms.groups, reason.terms.two_people) == (groups, two)
            assert _remembered(reason.terms) == remember
            tally.case(
                reason.rule if reason.rule == "default" else "rule",
                "undecided" if reason.undecided else "decided",
                *("groups",) * bool(groups),
                *("two people",) * two,
                *("remember",) * (remember is not None),
            )

    law()
    for word in ("default", "rule", "undecided", "groups", "two people", "remember"):
        tally.shows(word, share=0.01)


def _remembered(terms: Terms) -> object:
    remember = terms.remember
    return None if remember is None else (remember.seconds, remember.fields, remember.times)


def test_a_rule_means_the_same_under_any_name_and_position() -> None:
    tally = Tally()

    @MANY
    @given(situations())
    def law(case: Situation) -> None:
        moved = PolicyText(
            files=tuple(
                (name, (head, *(re.sub(r"^r\d", "moved", one) for one in reversed(rest))))
                for name, (head, *rest) in reversed(case.policy.files)
            )
        )
        before, after = case.decision(), case.under(moved).decision()
        assert _digests(after) == _digests(before)
        tally.case("asks" if _digests(before) else "asks nothing")

    law()
    tally.shows("asks")


def _digests(decision: Decision) -> list[str]:
    return sorted(r.terms.digest or "" for r in decision.reasons if r.terms is not None)


def test_a_printed_policy_decides_as_the_original() -> None:
    @given(situations())
    def law(case: Situation) -> None:
        printed = PolicyText(
            files=tuple(
                (tree.source.name, tuple(print_tree(tree).splitlines()))
                for tree in case.built.trees
            )
        )
        for tree in case.built.trees:
            again = parse(Source(name=tree.source.name, text=print_tree(tree)))
            assert again.tree == tree
        assert rank(case.under(printed).decision()) == rank(case.decision())

    law()


# ------------------------------------------------------------------ more rules, more layers


@given(situations(), st.data())
def test_a_deny_in_any_layer_wins(case: Situation, data: st.DataObject) -> None:
    file = data.draw(st.sampled_from([GLOBAL, *_binding(case)]))
    denied = case.under(case.policy.adding(file, f"z-0: deny {spelled(case.call.tool)}"))
    decision = denied.decision()
    assert decision.verdict is Verdict.DENY
    assert "z-0" in {reason.rule for reason in decision.deciding}


def _binding(case: Situation) -> list[str]:
    """Return the files of other layers that bind the caller itself."""
    fits = {
        "agents/ann.policy": case.caller.agent == "ann",
        "agents/bob.policy": case.caller.agent == "bob",
        "agents/all.policy": case.caller.agent == "ann",
        "roles/clerk.policy": case.caller.role == "clerk",
        "roles/guest.policy": case.caller.role == "guest",
    }
    return [name for name in other_files(case.policy) if fits[name]]


def test_another_layer_only_tightens() -> None:
    tally = Tally()

    @MANY
    @given(situations(keeping=without_words("delegate")))
    def law(case: Situation) -> None:
        for name in other_files(case.policy):
            before, after = case.under(case.policy.without(name)).decision(), case.decision()
            assert rank(after) >= rank(before)
            tally.case("tightened" if rank(after) > rank(before) else "same")

    law()
    tally.shows("tightened", share=0.05)


def test_a_delegation_grants_only_the_tools_it_names() -> None:
    tally = Tally()

    @MANY
    @given(situations(keeping=without_words("rewrite")), st.sampled_from(PLAIN))
    def law(case: Situation, tool: str) -> None:
        if tool == case.call.tool or not delegates(case.policy):
            return
        asked = replace(case, call=ToolCall(tool=tool, input=case.call.input))
        for name in other_files(case.policy):
            alone = case.policy.without(name).only(without_words("delegate"))
            before, after = asked.under(alone).decision(), asked.decision()
            assert rank(after) >= rank(before)
            tally.case("open" if before.verdict is not Verdict.DENY else "closed")

    law()
    tally.shows("open")


def test_adding_an_ask_or_a_deny_only_tightens() -> None:
    tally = Tally()

    @MANY
    @given(situations(), st.data())
    def law(case: Situation, data: st.DataObject) -> None:
        file = data.draw(st.sampled_from([name for name, _ in case.policy.files]))
        rule = "z-0: " + data.draw(rules(case.call, verdicts=("ask", "deny")))
        before = case.decision()
        after = case.under(_declared(case.policy, file).adding(file, rule)).decision()
        assert rank(after) >= rank(before)
        tally.case("tightened" if rank(after) > rank(before) else "same")

    law()
    tally.shows("tightened", share=0.05)


def _declared(policy: PolicyText, file: str) -> PolicyText:
    """Return the policy with every name that a drawn rule may use."""
    written = dict(policy.files)
    for line in PREAMBLE.splitlines():
        if line not in (*written[GLOBAL], *written[file]):
            policy = policy.adding(file, line)
    return policy


def test_a_tool_that_requires_confirmation_only_tightens() -> None:
    tally = Tally()
    careful = Catalog(
        specs=tuple(replace(spec, requires_confirmation=True) for spec in SPECS), complete=True
    )

    @given(situations())
    def law(case: Situation) -> None:
        before = case.decision()
        after = replace(case, built=build_over(case.policy, careful)).decision()
        assert after.verdict is strictest([before.verdict, Verdict.ASK])
        tally.case(before.verdict.value)

    law()
    for verdict in ("allow", "ask", "deny"):
        tally.shows(verdict)


def test_adding_an_allow_overrides_no_ask_and_no_deny() -> None:
    tally = Tally()

    @MANY
    @given(situations(), st.data())
    def law(case: Situation, data: st.DataObject) -> None:
        rule = f"z-0: allow {spelled(case.call.tool)}"
        before = case.decision()
        after = case.under(case.policy.adding(GLOBAL, rule)).decision()
        by_rules = strictest(v for _, v in by_name(opinions(before)) if v is not Verdict.ALLOW)
        assert rank(after) >= by_rules.rank
        tally.case(by_rules.value, "opened" if rank(after) < rank(before) else "same")

    law()
    tally.shows("ask")
    tally.shows("deny")
    tally.shows("opened", share=0.05)


def test_order_never_matters() -> None:
    tally = Tally()

    @MANY
    @given(situations(), st.randoms(use_true_random=False))
    def law(case: Situation, random: Any) -> None:
        files = [
            (name, (statements[0], *random.sample(statements[1:], len(statements) - 1)))
            for name, statements in case.policy.files
        ]
        random.shuffle(files)
        shuffled = case.under(PolicyText(files=tuple(files)))
        before, after = case.decision(), shuffled.decision()
        assert after.verdict is before.verdict
        assert after.call == before.call
        assert opinions(after) == opinions(before)
        tally.case(before.verdict.value, "moved" if shuffled.policy != case.policy else "same")

    law()
    tally.shows("moved", share=0.5)
    tally.shows("allow")


def test_a_shadow_rule_has_no_effect() -> None:
    tally = Tally()

    @MANY
    @given(situations(), st.data())
    def law(case: Situation, data: st.DataObject) -> None:
        file = data.draw(st.sampled_from([GLOBAL, *_binding(case)]))
        rule = data.draw(rules(case.call, verdicts=("ask", "deny")))
        declared = _declared(case.policy, file)
        shadowed = case.under(declared.adding(file, f"z-0: shadow {rule}")).decision()
        plain = case.under(declared).decision()
        assert shadowed.verdict is plain.verdict
        assert shadowed.call == plain.call
        assert shadowed.reasons == plain.reasons
        tally.case("recorded" if shadowed.shadowed else "silent")

    law()
    tally.shows("recorded")


# ------------------------------------------------------------------ rewrites


def test_a_rewrite_makes_no_denied_call_allowed() -> None:
    tally = Tally()

    @settings(MANY, max_examples=examples(500))
    @given(situations())
    def law(case: Situation) -> None:
        plain = case.under(case.policy.only(without_words("rewrite"))).decision()
        found = case.decision()
        assert rank(found) >= rank(plain)
        tally.case(
            plain.verdict.value,
            "rewritten" if found.rewritten else "as asked",
            "stricter" if rank(found) > rank(plain) else "same",
        )

    law()
    tally.shows("deny")
    tally.shows("rewritten", share=0.05)
    tally.shows("stricter", share=0.01)


def test_rewriting_is_idempotent() -> None:
    tally = Tally()

    @MANY
    @given(situations())
    def law(case: Situation) -> None:
        first = case.decision()
        if first.verdict is Verdict.DENY:
            return
        again = replace(case, call=first.call).decision()
        assert not again.rewritten
        assert rank(again) <= rank(first)
        tally.case("rewritten" if first.rewritten else "as asked")

    law()
    tally.shows("rewritten", share=0.05)


# ------------------------------------------------------------------ any call at all


def test_every_call_gets_a_verdict_and_a_refused_one_is_denied() -> None:
    tally = Tally()
    names = st.sampled_from([*NAMES, "no_such_tool", ""]) | st.text(max_size=5)
    anything = st.dictionaries(st.sampled_from(["a", "b", "n", "tags", "box"]), json_values())
    inputs = st.one_of(anything, anything, json_values(), st.binary(max_size=8))

    @MANY
    @given(situations(), names, inputs)
    def law(case: Situation, tool: str, given_input: object) -> None:
        found = answer(case.built.program, tool, given_input, caller=case.caller, facts=case.facts)
        assert found.decision.verdict in (Verdict.ALLOW, Verdict.ASK, Verdict.DENY)
        assert found.decision.reasons
        assert found.decision.deciding
        if found.admitted is None:
            assert found.decision.verdict is Verdict.DENY
        tally.case(
            found.decision.verdict.value, "refused" if found.admitted is None else "admitted"
        )

    law()
    tally.shows("refused")
    tally.shows("admitted", share=0.2)
    tally.shows("allow", share=0.03)


def test_the_oracle_agrees_on_any_input() -> None:
    tally = Tally()
    anything = st.dictionaries(st.sampled_from(["a", "b", "n", "tags", "box"]), json_values())

    @MANY
    @given(situations(tools=PLAIN), anything)
    def law(case: Situation, values: dict[str, Any]) -> None:
        found = answer(
            case.built.program, case.call.tool, values, caller=case.caller, facts=case.facts
        )
        if found.admitted is None:
            return
        expected = _oracle(replace(case, call=found.admitted.call))
        assert found.decision.verdict is expected.verdict
        tally.case(found.decision.verdict.value)

    law()
    tally.shows("allow", share=0.05)
    tally.shows("deny")


@given(situations())
def test_deciding_is_deterministic(case: Situation) -> None:
    assert case.decision() == case.decision()

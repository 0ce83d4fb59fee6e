"""Verdicts depend on the caller: a sub-agent, a guest, another agent."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from policy.model import Caller, GuestScope
from tests.examples import examples
from tests.laws.calls import callers
from tests.laws.situations import Situation, Tally, other_files, rank, situations, without_words

MANY = settings(max_examples=examples(250))
PLAIN = ("note", "nota", "risky", "bank__pay")


def test_a_sub_agent_is_allowed_no_more_than_its_parent() -> None:
    tally = Tally()

    @MANY
    @given(situations(depth=0), callers(depth=0))
    def law(case: Situation, parent: Caller) -> None:
        parent = replace(parent, agent="bob")
        child = case.by(replace(case.caller, agent="ann", parent=parent)).decision()
        alone = case.by(parent).decision()
        assert rank(child) >= rank(alone)
        tally.case(alone.verdict.value, "stricter" if rank(child) > rank(alone) else "same")

    law()
    tally.shows("allow")
    tally.shows("stricter", share=0.01)


def test_a_guest_is_allowed_no_more_than_an_owner() -> None:
    tally = Tally()
    scopes = st.builds(GuestScope, allowed_tools=st.sampled_from([("*",), ("*",), ("no*",), ()]))

    @MANY
    @given(situations(depth=0, keeping=without_words('role "guest"')), scopes)
    def law(case: Situation, scope: GuestScope) -> None:
        policy = case.policy.without("roles/guest.policy")
        here = case.under(policy)
        owner = here.by(replace(case.caller, role="owner", scope=None)).decision()
        guest = here.by(replace(case.caller, role="guest", scope=scope)).decision()
        assert rank(guest) >= rank(owner)
        tally.case(owner.verdict.value, "stricter" if rank(guest) > rank(owner) else "same")

    law()
    tally.shows("allow")
    tally.shows("stricter", share=0.05)


def test_a_policy_for_one_agent_does_not_apply_to_another() -> None:
    tally = Tally()

    @MANY
    @given(situations(depth=0, keeping=without_words("delegate")))
    def law(case: Situation) -> None:
        theirs = {"agents/ann.policy", "agents/bob.policy"} & set(other_files(case.policy))
        for name in theirs:
            mine = "bob" if name == "agents/ann.policy" else "ann"
            asked = case.by(replace(case.caller, agent=mine))
            before, after = asked.decision(), asked.under(case.policy.without(name)).decision()
            assert after.verdict is before.verdict
            assert after.reasons == before.reasons
            assert after.call == before.call
            tally.case(before.verdict.value)

    law()
    tally.shows("allow", share=0.05)
    tally.shows("deny")

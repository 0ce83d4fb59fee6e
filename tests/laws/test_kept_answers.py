"""An answer about a claim counts for another policy only if nothing differs that it depends on."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from policy.verify import (
    ClaimQuestion,
    answer_of,
    answer_record,
    answer_to,
    claims_of,
    only_tightens,
    question_digests,
)
from tests.examples import examples
from tests.laws.calls import SPELLED, once_in, pick
from tests.laws.conditions import conditions
from tests.laws.policies import GLOBAL
from tests.laws.situations import Situation, Tally, situations

_STEPS = 1_000


@st.composite
def _edits(draw: DrawFn) -> tuple[Situation, Situation]:
    """Draw a policy with a claim, and the same after an edit that may concern the claim."""
    case = draw(situations())
    tool = SPELLED.get(case.call.tool, case.call.tool)
    claim = pick(draw, ("never allow", "always deny"))
    old = case.under(case.policy.adding(GLOBAL, f"assume {claim} {tool}"))
    file = pick(draw, [name for name, _ in old.policy.files])
    if once_in(draw, 2):
        permits = once_in(draw, 2)
        verdict = "allow" if permits else pick(draw, ("ask", "deny"))
        when = draw(conditions(case.call, permits=permits))
        edited = old.policy.adding(file, f"edit-1: {verdict} {tool} when {when}")
    else:
        statements = [text for name, texts in old.policy.files for text in texts[1:]]
        dropped = pick(draw, [text for text in statements if "assume" not in text] or [""])
        edited = old.policy.only(lambda _, text: text != dropped)
    return old, old.under(edited)


def _asked(case: Situation) -> tuple[str, ClaimQuestion]:
    questions = (one for claim in claims_of(case.built.program) for one in claim.questions())
    found = {
        question.spec.name: (digest, question)
        for digest, question in question_digests(questions, surroundings="", steps=_STEPS)
    }
    return found[case.call.tool]


def test_an_answer_counts_as_long_as_its_digest_is_the_same() -> None:
    tally = Tally()

    @settings(max_examples=examples(200))
    @given(_edits())
    def law(drawn: tuple[Situation, Situation]) -> None:
        old, new = drawn
        (before, was), (after, now) = _asked(old), _asked(new)
        first, second = (answer_to(question, steps=_STEPS) for question in (was, now))
        if before == after:
            assert first.status == second.status
            assert answer_of(now, answer_record(first)) is not None
            tally.case("the same question")
        elif first.status != second.status:
            tally.case("another answer")

    law()
    tally.shows("the same question", share=0.02)
    tally.shows("another answer", share=0.02)


def test_what_held_still_holds_after_an_edit_that_only_tightens() -> None:
    tally = Tally()

    @settings(max_examples=examples(200))
    @given(_edits())
    def law(drawn: tuple[Situation, Situation]) -> None:
        old, new = drawn
        if not only_tightens(old.built.program, new.built.program):
            tally.case("another edit")
            return
        first, second = (answer_to(_asked(case)[1], steps=_STEPS) for case in drawn)
        assert (first.status, second.status) != ("holds", "broken")
        assert new.decision().verdict >= old.decision().verdict
        tally.case(first.status)

    law()
    tally.shows("another edit", share=0.1)
    tally.shows("holds", share=0.05)

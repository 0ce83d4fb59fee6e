"""No call of a hidden tool is allowed, and a tool that is not marked never asks.

The engine is the reference: every drawn call is decided, and none may contradict the visibility.
"""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from policy.decision import Visibility, visibility_of
from policy.model import Verdict
from tests.examples import examples
from tests.laws.situations import Situation, Tally, situations

MANY = settings(max_examples=examples(500))


def _outlook(case: Situation, *fields: str) -> Visibility:
    known = {name: case.call.input[name] for name in fields}
    program = case.built.program
    return visibility_of(program, case.call.tool, case.caller, case.facts, fields=known)


def test_a_hidden_tool_is_never_allowed_and_an_unmarked_one_never_asks() -> None:
    tally = Tally()

    @MANY
    @given(situations())
    def law(case: Situation) -> None:
        expected, verdict = _outlook(case), case.decision().verdict
        if expected is Visibility.HIDDEN:
            assert verdict is Verdict.DENY
        if expected is Visibility.OPEN:
            assert verdict is not Verdict.ASK
        tally.case(f"{expected.value} {verdict.value}")

    law()
    tally.shows("hidden deny", share=0.05)
    tally.shows("open allow", share=0.01)
    tally.shows("asks ask", share=0.01)


def test_a_tool_hidden_for_some_fields_is_never_allowed_with_them() -> None:
    tally = Tally()

    @MANY
    @given(situations(), st.data())
    def law(case: Situation, data: st.DataObject) -> None:
        fields = (
            data.draw(st.sets(st.sampled_from(sorted(case.call.input)))) if case.call.input else ()
        )
        expected, verdict = _outlook(case, *fields), case.decision().verdict
        if expected is Visibility.HIDDEN:
            assert verdict is Verdict.DENY
        if expected is Visibility.OPEN:
            assert verdict is not Verdict.ASK
        narrower = _outlook(case) is not Visibility.HIDDEN and expected is Visibility.HIDDEN
        tally.case("narrower" if narrower else "as wide", expected.value)

    law()
    tally.shows("narrower", share=0.01)

"""Laws about conditions that compare values: every call is among the readings of all calls."""

from __future__ import annotations

from datetime import datetime
from types import MappingProxyType
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from policy.catalog import SchemaView
from policy.checks import checked
from policy.evaluation import DeclaredResources, Evaluation, Indeterminate
from policy.model import Caller, Facts, ToolCall
from policy.solving import Clauses, Model, Search
from policy.symbolic import AllCalls, leaves_of
from policy.symbolic.reading import Scope, compiled, truth_of
from tests.examples import examples
from tests.laws.compared_values import INPUTS, MARK, NOW, checked_condition, conditions
from tests.laws.situations import Tally

DECLARED = DeclaredResources((), complete=True, unseen=False)
SLOTS = 20


def _call(input: dict[str, Any], *, now: datetime | None, user: str | None) -> Evaluation:
    call = ToolCall(tool="mark", input=input)
    facts = Facts(now=now, context=MappingProxyType({} if now is None else {"t": now}))
    return Evaluation(MARK, call.input, caller=Caller(user=user), facts=facts, slots=SLOTS)


def test_what_the_engine_says_of_a_call_is_a_reading_of_all_calls() -> None:
    tally = Tally()

    @settings(max_examples=examples(300))
    @given(
        st.lists(conditions(), min_size=1, max_size=4),
        INPUTS,
        NOW,
        st.sampled_from((None, "a", "b")),
    )
    @example(["input.t == input.x", "0 < input.x"], {"t": "", "x": ""}, None, None)
    def law(texts: list[str], input: dict[str, Any], now: Any, user: str | None) -> None:
        tests = [test for text in texts if (test := checked_condition(text)) is not None]
        call = _call(input, now=now, user=user)
        clauses = Clauses()
        reading = AllCalls(
            clauses,
            MARK,
            SchemaView(MARK.schema),
            tests=leaves_of(*tests),
            layers=(),
            slots=SLOTS,
        )
        truths = []
        for test in tests:
            for absent_is_false in (True, False):
                scope = Scope(DECLARED, absent_is_false=absent_is_false)
                truths.append(_said(test, scope, call))
                read = truth_of(test, scope, reading)
                clauses.require(read.holds if truths[-1] is True else -read.holds)
                clauses.require(read.fails if truths[-1] is False else -read.fails)
        with Search(clauses, steps=100_000) as search:
            assert isinstance(search.solve(), Model), (texts, truths)
        tally.case(*(str(truth) for truth in set(truths)))

    law()
    for truth in ("True", "False", "None"):
        tally.shows(truth, share=0.1)


def _said(test: checked.Test, scope: Scope, call: Evaluation) -> bool | None:
    truth = compiled(test, scope)(call)
    return None if isinstance(truth, Indeterminate) else truth

"""The oracle decides the cases that were worked out by hand."""

from __future__ import annotations

import pytest

from policy.model import Source, ToolCall, thaw
from policy.syntax import parse, tree
from tests.laws.calls import SPECS
from tests.laws.hand_cases import HANDS, Hand
from tests.reference import reference_decide


def _trees(hand: Hand) -> list[tree.PolicyFile]:
    texts = {"global.policy": "policy for every agent\n" + hand.base, **hand.others}
    parsed = [parse(Source(name=name, text=text + "\n")) for name, text in texts.items()]
    assert [one.diagnostics for one in parsed] == [()] * len(parsed)
    return [one.tree for one in parsed]


@pytest.mark.parametrize("hand", HANDS, ids=lambda hand: hand.title)
def test_the_oracle_decides_the_cases_worked_out_by_hand(hand: Hand) -> None:
    call = ToolCall(tool=hand.tool, input=hand.input)
    answer = reference_decide(_trees(hand), SPECS, call, hand.caller, hand.facts)
    deciding = {rule for rule, verdict in answer.rules if verdict is answer.verdict}
    assert answer.verdict is hand.verdict, answer.rules
    assert hand.by is None or hand.by in deciding
    assert hand.becoming is None or thaw(answer.input) == hand.becoming


def test_a_tool_that_nobody_knows_is_denied() -> None:
    hand = HANDS[0]
    call = ToolCall(tool="unknown", input={})
    answer = reference_decide(_trees(hand), SPECS, call, hand.caller, hand.facts)
    assert answer.rules == {("schema", hand.verdict.DENY)}

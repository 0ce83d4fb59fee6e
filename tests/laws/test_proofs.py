"""Laws about proofs: what is proved holds for every call, and what is refuted is a real call."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from policy.checks import checked
from policy.decision import answer
from policy.evaluation import ConditionScope, Evaluation, compile_test
from policy.layers import applies_to
from policy.model import Caller, ToolCall, Verdict
from policy.verify import Proof, prove
from tests.examples import examples
from tests.laws.calls import SPELLED, callers, calls, once_in, pick
from tests.laws.conditions import draw_condition
from tests.laws.engine import CATALOG, Unsound, build
from tests.laws.policies import GLOBAL
from tests.laws.situations import Situation, Tally, situations

_LEAST = {"never allow": Verdict.ASK, "always deny": Verdict.DENY}


@st.composite
def _claims(draw: DrawFn) -> tuple[Situation, Proof]:
    """Draw a policy with one claim about the tool of a call, and what is proved of it."""
    case = draw(situations())
    own = SPELLED.get(case.call.tool, case.call.tool)
    claim = f"prove {pick(draw, tuple(_LEAST))} {own}"
    # Often the very condition of a rule, so that something can be proved.
    conditions = [
        part
        for _, statements in case.policy.files
        for statement in statements
        if " when " in statement and statement.partition(": ")[2].startswith(("deny", "ask"))
        for part in [statement.split(" when ", 1)[1]]
    ]
    if conditions and once_in(draw, 2):
        text = pick(draw, conditions)
        for end in (" unless ", " by ", " two people", " remember "):
            text = text.split(end)[0]
        claim += f" when {text}"
    elif once_in(draw, 2):
        claim += f" when {draw_condition(draw, case.call, permits=False)}"
    try:
        built = build(case.policy.adding(GLOBAL, claim))
    except Unsound:
        built = build(case.policy.adding(GLOBAL, claim.split(" when ")[0]))
    case = replace(case, built=built)
    (proof,) = prove(built)
    assert not proof.because
    return case, proof


def _breaks(case: Situation, proof: Proof, call: ToolCall, caller: Caller) -> bool:
    """Return whether the call breaks the claim as it runs, by the engine alone."""
    invariant = proof.invariant
    outcome = answer(case.built.program, call.tool, dict(call.input), caller, case.facts)
    if outcome.admitted is None or outcome.decision.verdict >= _LEAST[invariant.claim]:
        return False
    return all(
        _may_be(test, wanted, case, outcome.decision.call, caller)
        for test, wanted in ((invariant.when, True), (invariant.unless, False))
        if test is not None
    )


def _may_be(
    test: checked.Test, wanted: bool, case: Situation, call: ToolCall, caller: Caller
) -> bool:
    spec = CATALOG.get(call.tool)
    assert spec is not None
    plan = case.built.program.layer_plan(0, spec)
    place = ConditionScope(
        declared=plan.declared, absent_is_false=wanted, covering=False, test=compile_test
    )
    slots = 20
    truth = compile_test(test, place)(
        Evaluation(spec, call.input, caller=caller, facts=case.facts, slots=slots)
    )
    return truth is not (not wanted)


def test_no_call_breaks_a_claim_that_is_proved() -> None:
    tally = Tally()

    @settings(max_examples=examples(600))
    @given(_claims(), st.data())
    def law(drawn: tuple[Situation, Proof], data: Any) -> None:
        case, proof = drawn
        refuted = False
        others = [data.draw(calls((case.call.tool,))) for _ in range(4)]
        for call in (case.call, *others):
            for caller in (case.caller, data.draw(callers(depth=2))):
                broken = _breaks(case, proof, call, caller)
                assert not broken or proof.status != "holds", (call, caller)
                refuted = refuted or broken
        tally.case(proof.status, "a call breaks it" if refuted else "no call breaks it")

    law()
    tally.shows("holds", share=0.05)
    tally.shows("broken", share=0.05)
    tally.shows("a call breaks it", share=0.01)


def test_a_call_that_refutes_a_claim_breaks_it() -> None:
    @settings(max_examples=examples(300))
    @given(_claims())
    def law(drawn: tuple[Situation, Proof]) -> None:
        case, proof = drawn
        if proof.counterexample is None:
            return
        shown = proof.counterexample.situation
        case = replace(case, facts=shown.facts)
        call = ToolCall(tool=shown.spec.name, input=shown.input)
        assert _breaks(case, proof, call, shown.caller)
        (layer,) = {proof.layer}
        assert applies_to(layer, agent=shown.caller.agent, role=shown.caller.role)

    law()

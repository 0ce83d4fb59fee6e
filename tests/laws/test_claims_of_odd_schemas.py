"""Laws about proofs where schemas say less than it seems, and layers declare other resources."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from policy.catalog import ToolSpec
from policy.decision import answer
from policy.model import Caller, Facts, Verdict
from policy.verify import prove
from tests.examples import examples
from tests.laws.engine import Unsound
from tests.unit.verify.proving import built_of, tool

_OLD = "http://json-schema.org/draft-07/schema#"
_VALUES = ("a", "c", 5, 100)
_RESTRICTIONS: tuple[dict[str, Any], ...] = (
    {},
    {"type": "string"},
    {"type": "integer"},
    {"enum": ["a", "b"]},
    {"enum": ["a"]},
    {"type": "integer", "maximum": 10},
)
_CONDITIONS = (
    'input.m in ["a", "b"]',
    'input.m == "a"',
    "input.m <= 10",
    'input.m like "a*"',
    "input.m is present",
)
_PATHS = ("/etc/x", "/srv/y")


@st.composite
def _specs(draw: st.DrawFn) -> ToolSpec:
    field: dict[str, Any] = dict(draw(st.sampled_from(_RESTRICTIONS)))
    if draw(st.booleans()):
        field["$ref"] = "#/definitions/E"
    if draw(st.booleans()):
        field["default"] = draw(st.sampled_from(_VALUES))
    made = tool("t", {"m": field})
    schema = {**made.schema, "definitions": {"E": draw(st.sampled_from(_RESTRICTIONS))}}
    if draw(st.booleans()):
        schema["$schema"] = _OLD
    if draw(st.booleans()):
        schema["required"] = []
    return replace(made, schema=schema)


@settings(max_examples=examples(120))
@given(_specs(), st.sampled_from(_CONDITIONS), st.sampled_from(_CONDITIONS))
def test_no_input_that_a_schema_accepts_breaks_a_claim_that_holds(
    spec: ToolSpec, condition: str, claimed: str
) -> None:
    rules = ("policy for every agent", "default allow", f"d: deny t when {condition}")
    claims = ("prove always deny t", f"prove always deny t when {claimed}")
    for number, claim in enumerate(claims):
        try:
            built = built_of({"global.policy": (*rules, claim)}, specs=(spec,))
            meets = built_of(
                {"global.policy": (*rules[:2], f"d: allow t when {claimed}")}, specs=(spec,)
            )
        except Unsound:
            assume(False)
        (proof,) = prove(built)
        if proof.status != "holds":
            continue
        for given_input in ({}, *({"m": value} for value in _VALUES)):
            outcome = answer(built.program, "t", given_input, Caller(), Facts())
            if outcome.admitted is None or outcome.decision.verdict is Verdict.DENY:
                continue
            # The second claim is about calls that certainly meet its condition alone.
            matched = answer(meets.program, "t", given_input, Caller(), Facts()).decision
            rules_that_match = [reason.rule for reason in matched.reasons]
            assert number == 1 and "d" not in rules_that_match, (claim, given_input)


@settings(max_examples=examples(60))
@given(st.data())
def test_no_call_breaks_a_claim_of_a_layer_that_declares_other_resources(data: Any) -> None:
    spec = tool("t", {"p": {"type": "string"}, "q": {"type": "string"}})
    declarations = [data.draw(st.sampled_from(("p", "q"))) for _ in range(2)]
    condition = 'any r in call.reads: r == "/etc/x"'
    every = ("policy for every agent", "default allow", f"tool t reads input.{declarations[0]}")
    ann = ('policy for agent "ann"', f"tool t reads input.{declarations[1]}")
    where = data.draw(st.sampled_from(("every", "ann")))
    deny = (f"d: deny t when {condition}",)
    files = {
        "global.policy": every + (deny if where == "every" else ()),
        "agents/ann.policy": (
            *ann,
            *(deny if where == "ann" else ()),
            f"prove always deny t when {condition}",
        ),
    }
    built = built_of(files, specs=(spec,))
    (proof,) = prove(built)
    # Every layer sees what the global one declares, too.
    seen = set(declarations)
    for p in _PATHS:
        for q in _PATHS:
            call = {"p": p, "q": q}
            verdict = answer(
                built.program, "t", call, Caller(agent="ann"), Facts()
            ).decision.verdict
            if verdict is not Verdict.DENY and any(call[name] == "/etc/x" for name in seen):
                assert proof.status != "holds", call

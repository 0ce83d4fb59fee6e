"""Laws about proofs of fields within objects: no call breaks a claim that holds."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from policy.catalog import ToolSpec
from policy.decision import answer
from policy.model import Caller, Facts, Verdict
from policy.verify import prove
from tests.examples import examples
from tests.laws.engine import Built, Unsound
from tests.unit.verify.proving import built_of, tool

_FIELDS: tuple[Any, ...] = (
    {},
    {"type": "string"},
    {"type": ["string", "null"]},
    {"type": "integer", "minimum": 0, "maximum": 7},
    {"type": "number", "exclusiveMinimum": 3},
    {"enum": ["u", "v", None]},
    {"anyOf": [{"type": "string"}, {"type": "integer"}]},
    {"type": "object"},
)
_VALUES: tuple[tuple[Any, ...], ...] = (
    ("u", "w", "u\u200b", "", 3, 7, 8, 3.5, 2**53 + 1, True, None, [], ["u"], {}, {"b": 1}),
    (None, {}, [], "u", 5),
)
_CONDITIONS = (
    "{} is a string",
    "{} is a number",
    "{} is a boolean",
    "{} is an object",
    "{} is present",
    "{} is absent",
    '{} == "u"',
    '{} in ["u", "w"]',
    "{} in [3, 8]",
    "{} > 5",
    "not ({} <= 7)",
    '{} starts with "u"',
)
_PLACES = ("input.o.a", "input.o.a.b", "input.o.c")


@st.composite
def _specs(draw: st.DrawFn) -> ToolSpec:
    names = {name: draw(st.sampled_from(_FIELDS)) for name in "ac" if draw(st.integers(0, 3))}
    inside: dict[str, Any] = {"type": draw(st.sampled_from(("object", ["object", "null"])))}
    inside["properties"] = names
    more = draw(st.sampled_from((None, False, True, {"type": "string"}, {"type": "integer"})))
    if more is not None:
        inside["additionalProperties"] = more
    if draw(st.booleans()):
        inside["required"] = draw(st.sampled_from((["a"], ["a", "c"])))
    made = tool("t", {"o": draw(st.sampled_from((inside, inside, {"anyOf": [inside, {}]})))})
    if draw(st.booleans()):
        made = replace(made, schema={**made.schema, "required": []})
    return made


_TESTS = st.builds(
    lambda condition, place: condition.format(place),
    st.sampled_from(_CONDITIONS),
    st.sampled_from(_PLACES),
)


@settings(max_examples=examples(200))
@given(_specs(), _TESTS, st.sampled_from(("deny", "allow")), _TESTS)
def test_no_object_breaks_a_claim_that_holds(
    spec: ToolSpec, condition: str, effect: str, claimed: str
) -> None:
    default = "deny" if effect == "allow" else "allow"
    rules = ("policy for every agent", f"default {default}", f"r: {effect} t when {condition}")
    try:
        built = built_of(
            {"global.policy": (*rules, f"prove never allow t when {claimed}")}, specs=(spec,)
        )
        meets = built_of(
            {"global.policy": (*rules[:1], "default allow", f"d: deny t when {claimed}")},
            specs=(spec,),
        )
    except Unsound:
        assume(False)
    (proof,) = prove(built)
    if proof.status != "holds":
        return
    for given_input in ({}, *({"o": value} for value in _objects())):
        assert not _breaks(built, meets, given_input), given_input


def _objects() -> list[Any]:
    inner = [
        {name: value for name, value in (("a", a), ("c", c)) if value is not ...}
        for a, c in product((*_VALUES[0], ...), ("u", 5, ...))
    ]
    return [*inner, *_VALUES[1]]


def _breaks(built: Built, meets: Built, given_input: dict[str, Any]) -> bool:
    outcome = answer(built.program, "t", given_input, Caller(), Facts())
    if outcome.admitted is None or outcome.decision.verdict is not Verdict.ALLOW:
        return False
    return (
        answer(meets.program, "t", given_input, Caller(), Facts()).decision.verdict is Verdict.DENY
    )

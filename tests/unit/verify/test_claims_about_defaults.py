"""Claims about fields whose schema restricts less than it seems: a call may be of other values."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from policy.catalog import ToolSpec
from policy.decision import answer
from policy.model import Caller, Facts, Verdict
from tests.unit.verify.proving import built_of, layered_proof, tool

DRAFT = "http://json-schema.org/draft-07/schema#"
LETTERS = {"type": "string", "enum": ["a", "b"]}


def _optional(field: dict[str, Any], **more: Any) -> ToolSpec:
    made = tool("t", {"m": field})
    return replace(made, schema={**made.schema, "required": [], **more})


def _old(field: dict[str, Any], target: dict[str, Any]) -> ToolSpec:
    made = tool("t", {"m": field})
    more = {"$schema": DRAFT, "definitions": {"E": target}}
    return replace(made, schema={**made.schema, **more})


REFERENCE = {"$ref": "#/definitions/E"}
CASES = (
    pytest.param(_optional(LETTERS | {"default": "c"}), 'input.m in ["a", "b"]', {}, id="enum"),
    pytest.param(
        _optional({"type": "integer", "maximum": 10, "default": 100}),
        "input.m <= 10",
        {},
        id="maximum",
    ),
    pytest.param(
        _optional({"type": "string", "default": 5}), 'input.m like "*"', {}, id="another type"
    ),
    pytest.param(
        _optional(
            {"allOf": [LETTERS], "default": "c"},
        ),
        'input.m in ["a", "b"]',
        {},
        id="beside allOf",
    ),
    pytest.param(
        _optional(REFERENCE, definitions={"E": LETTERS | {"default": "c"}}),
        'input.m in ["a", "b"]',
        {},
        id="of a reference",
    ),
    pytest.param(
        _optional(LETTERS | {"default": "a"}, dependentRequired={"m": ["n"]}),
        'input.m in ["a", "b"]',
        {},
        id="beside another field",
    ),
    pytest.param(
        _old(REFERENCE | {"enum": ["a"]}, {"type": "string"}),
        'input.m == "a"',
        {"m": "c"},
        id="enum beside a reference",
    ),
    pytest.param(
        _old(REFERENCE | {"maximum": 10}, {"type": "integer"}),
        "input.m <= 10",
        {"m": 100},
        id="maximum beside a reference",
    ),
    pytest.param(
        _old(REFERENCE | {"type": "string"}, {}),
        "input.m != 5",
        {"m": 5},
        id="type beside a reference",
    ),
)


@pytest.mark.parametrize(("spec", "condition", "input"), CASES)
def test_a_claim_that_a_call_breaks_does_not_hold(
    spec: ToolSpec, condition: str, input: dict[str, Any]
) -> None:
    rules = ("policy for every agent", "default allow", f"d: deny t when {condition}")
    program = built_of({"global.policy": rules}, specs=(spec,)).program
    allowed = answer(program, "t", input, Caller(), Facts()).decision.verdict is Verdict.ALLOW
    found = layered_proof({"global.policy": (*rules, "prove always deny t")}, specs=(spec,))
    assert not (allowed and found.status == "holds")
    assert allowed


def test_a_default_that_the_schema_accepts_is_no_obstacle() -> None:
    spec = _optional(LETTERS | {"default": "a"})
    rules = ("policy for every agent", "default allow", 'd: deny t when input.m in ["a", "b"]')
    found = layered_proof({"global.policy": (*rules, "prove always deny t")}, specs=(spec,))
    assert found.status == "holds"

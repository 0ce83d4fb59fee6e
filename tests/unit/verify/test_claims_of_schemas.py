"""Claims about tools whose schemas say less than they seem to: other drafts, branches, booleans."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from policy.catalog import Resource
from policy.decision import answer
from policy.model import Caller, Facts, Verdict
from policy.verify import prove
from tests.unit.verify.proving import built_of, tool
from tests.viewed_schemas import objections

_SMALL = {"type": "integer", "minimum": 0, "maximum": 5}
_WHOLE = {"type": "integer"}
_LARGE = "any x in input.n: x > 5"
_TEXT = "input.n is a string"
_OLD = "http://json-schema.org/draft-0{}/schema#"


def _list_of(**keywords: Any) -> dict[str, Any]:
    return {"type": "array", **keywords}


@pytest.mark.parametrize(
    ("draft", "field", "condition", "value"),
    [
        ("", _list_of(prefixItems=[_SMALL]), _LARGE, [1, 6]),
        ("", _list_of(prefixItems=[_SMALL], items=True), _LARGE, [1, 6]),
        (_OLD.format(7), _list_of(items=[_SMALL]), _LARGE, [1, 6]),
        (_OLD.format(7), _list_of(items=[_SMALL], additionalItems=True), _LARGE, [1, 6]),
        (_OLD.format(7), _list_of(prefixItems=[_SMALL]), _LARGE, [6]),
        ("", {"anyOf": [_list_of(items=_SMALL), _list_of(maxItems=10)]}, _LARGE, [6]),
        ("", {"anyOf": [True, _WHOLE]}, _TEXT, "x"),
        ("", {"oneOf": [True, _WHOLE]}, _TEXT, "x"),
        ("", _list_of(items={"anyOf": [True, _WHOLE]}), "any x in input.n: x is a string", ["x"]),
        ("", {"then": _WHOLE, "else": _WHOLE}, _TEXT, "x"),
        (_OLD.format(6), {"if": {}, "then": _WHOLE, "else": _WHOLE}, _TEXT, "x"),
        (_OLD.format(4), {"const": 1}, _TEXT, "x"),
        ("", {"$ref": "#/$defs/a%25b"}, _TEXT, "x"),
        ("", {"$ref": "#/$defs/a%20b"}, "input.n is a number", 5),
        ("", _list_of(additionalProperties=_WHOLE), "any x in input.n: x is a string", ["x"]),
        ("", {"required": ["a"], "properties": {"a": {}}}, "input.n.a is absent", 5),
    ],
)
def test_a_claim_is_not_proved_by_what_a_validator_does_not_read(
    draft: str, field: Any, condition: str, value: Any
) -> None:
    parts = {"a%25b": _WHOLE, "a%b": {"type": "string"}, "a b": _WHOLE, "a%20b": {"type": "string"}}
    schema = {"properties": {"n": field}, "required": ["n"], "$defs": parts}
    _assert_broken({**schema, **({"$schema": draft} if draft else {})}, condition, {"n": value})


@pytest.mark.parametrize(
    ("schema", "condition", "value"),
    [
        ({"additionalProperties": _WHOLE, "patternProperties": {"^n": {}}}, _TEXT, "x"),
        (
            {
                "anyOf": [
                    {"properties": {"n": _WHOLE}},
                    {"additionalProperties": False, "patternProperties": {"^n": {}}},
                ]
            },
            _TEXT,
            "x",
        ),
    ],
)
def test_a_name_that_a_pattern_matches_is_not_among_the_others(
    schema: dict[str, Any], condition: str, value: Any
) -> None:
    _assert_broken({"type": "object", **schema}, condition, {"n": value})


def test_parts_of_another_draft_or_with_an_identifier_are_read_as_the_validator_does() -> None:
    reference = {"$ref": "#/definitions/y"}
    identified = {"id": "urn:x", "definitions": {"y": {}}, "allOf": [reference]}
    parts = {"y": _WHOLE, "z": {}, "x": identified}
    root = {"definitions": parts, "required": ["n"]}
    of_its_own = {**root, "properties": {"n": {"$ref": "#/definitions/x"}}}
    _assert_broken({**of_its_own, "$schema": _OLD.format(4)}, _TEXT, {"n": "x"})
    old = {"$schema": _OLD.format(7), "$ref": "#/definitions/z", "type": "integer"}
    _assert_broken({**root, "properties": {"n": old}}, _TEXT, {"n": "x"})


def test_a_value_in_a_list_of_a_map_is_not_among_those_of_other_names() -> None:
    of_numbers = _list_of(items=_WHOLE)
    field = {"additionalProperties": of_numbers, "patternProperties": {"z": {}}}
    schema = {"properties": {"o": {"type": "object", **field}}, "required": ["o"]}
    _assert_broken(schema, "any v in input.o.z: v is a string", {"o": {"z": ["x"]}})


def _assert_broken(schema: dict[str, Any], condition: str, given: dict[str, Any]) -> None:
    """Assert that a call which breaks `never allow` is accepted, and that nothing is proved."""
    assert not list(objections(schema, [given]))
    spec = replace(tool("t", {}), schema=schema)
    rules = ("policy for every agent", "default allow")
    built = built_of(
        {"global.policy": (*rules, f"prove never allow t when {condition}")}, specs=(spec,)
    )
    assert answer(built.program, "t", given, Caller(), Facts()).decision.verdict is Verdict.ALLOW
    denying = built_of({"global.policy": (*rules, f"d: deny t when {condition}")}, specs=(spec,))
    assert answer(denying.program, "t", given, Caller(), Facts()).decision.verdict is Verdict.DENY
    (proof,) = prove(built)
    assert proof.status != "holds"


@pytest.mark.parametrize("condition", ["input.n > 100", "input.n < 0", "input.n > input.m"])
def test_a_number_with_many_digits_is_within_bounds_and_compares_with_nothing(
    condition: str,
) -> None:
    fields = {
        "n": {"type": "number", "minimum": 0, "maximum": 100},
        "m": {"type": "number", "exclusiveMinimum": 200, "maximum": 300},
    }
    claim = f"prove never allow t when {condition}"
    built = built_of(
        {"global.policy": ("policy for every agent", "default allow", claim)},
        specs=(tool("t", fields),),
    )
    (proof,) = prove(built)
    assert proof.status == "broken"
    assert proof.counterexample is not None
    assert proof.counterexample.unclear
    assert "0000000000000001" in proof.counterexample.as_test("x")


def test_whole_numbers_within_safe_bounds_are_all_compared() -> None:
    built = built_of(
        {
            "global.policy": (
                "policy for every agent",
                "default allow",
                "prove never allow t when input.n > 5",
            )
        },
        specs=(tool("t", {"n": _SMALL}),),
    )
    (proof,) = prove(built)
    assert proof.status == "holds"


@pytest.mark.parametrize("field", [True, {}, {"type": "string"}])
def test_a_resource_may_be_anything_that_its_schema_accepts(field: Any) -> None:
    rules = ("policy for every agent", "default allow", 'd: deny t when reads "/etc/**"')
    claim = 'prove never allow t when reads "/etc/passwd"'
    spec = tool("t", {"p": field}, Resource(verb="reads", steps=("p",)))
    (proof,) = prove(built_of({"global.policy": (*rules, claim)}, specs=(spec,)))
    assert proof.status == "holds"


@pytest.mark.parametrize(
    "other",
    [
        {"type": "string", "pattern": "^[a-z]{3}-[0-9]+$", "minLength": 8},
        {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
        {"type": "integer", "minimum": 3, "multipleOf": 5},
    ],
)
def test_a_call_is_shown_whatever_its_other_fields_demand(other: dict[str, Any]) -> None:
    spec = tool("t", {"n": _WHOLE, "other": other})
    rules = ("policy for every agent", "default allow", "prove never allow t when input.n > 5")
    (proof,) = prove(built_of({"global.policy": rules}, specs=(spec,)))
    assert proof.status == "broken"


def test_a_claim_names_the_schema_of_which_no_input_is_found() -> None:
    field = {"type": "string", "pattern": "^(?=a).*(?<!a)$", "not": {"const": "a"}}
    rules = ("policy for every agent", "default allow", "prove never allow t when input.n > 5")
    spec = tool("t", {"n": _WHOLE, "p": field})
    (proof,) = prove(built_of({"global.policy": rules}, specs=(spec,)))
    assert proof.status == "undecided"
    assert "no input was found that its schema accepts" in proof.because

"""Plain schemas: what is accepted without the schema library, and that the library accepts it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from jsonschema_rs import validator_for

from policy.admission import Admitted, RawCall, admit
from policy.admission import gate as gate_module
from policy.admission.gate import Gate
from policy.admission.plain_schema import plain_check
from policy.catalog import Catalog, Origin, ToolSpec

NAMES = st.sampled_from(["a", "b", "c", "d"])
SIZES = st.integers(0, 3)
REMARKS = {"title": st.text(max_size=2), "default": st.none() | st.integers(0, 3)}
KINDS = st.sampled_from(["string", "number", "integer", "boolean", "null", "array", "object"])


def said(kind: str, **words: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({"type": st.just(kind)}, optional={**REMARKS, **words})


LEAVES: st.SearchStrategy[dict[str, Any]] = (
    st.just({})
    | said(
        "string",
        enum=st.lists(st.text(max_size=2), min_size=1, max_size=3, unique=True),
        minLength=SIZES,
        maxLength=SIZES,
    )
    | said("integer", minimum=SIZES, maximum=SIZES)
    | said("number", minimum=SIZES, maximum=SIZES)
    | said("boolean")
    | said("null")
    | st.fixed_dictionaries({"type": st.lists(KINDS, min_size=1, max_size=3, unique=True)})
)


def objects(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return said(
        "object",
        properties=st.dictionaries(NAMES, inner, max_size=3),
        required=st.lists(NAMES, max_size=2, unique=True),
        additionalProperties=st.booleans() | inner,
    )


PLAIN = objects(
    st.recursive(
        LEAVES,
        lambda inner: objects(inner) | said("array", items=inner, minItems=SIZES, maxItems=SIZES),
        max_leaves=5,
    )
)
# Words that are not known here, or that are no JSON Schema.
ODD = st.dictionaries(
    st.sampled_from(
        ["type", "enum", "const", "required", "items", "minimum", "minLength", "title", "not",
         "properties", "additionalProperties", "$ref", "$schema", "pattern", "format", "default"]
    ),
    st.sampled_from(
        [None, True, 1, -1, 1.5, "string", "integer", "object", "date", "#", [], ["a", "a"], ["a"],
         [1], {}, {"type": "string"}, {"a": {"type": "integer"}}, {"a": 1}]
    ),
    max_size=4,
)  # fmt: skip
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-2, 5)
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.text(max_size=4)
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=8,
)
INPUTS = st.dictionaries(NAMES, VALUES, max_size=4)


@st.composite
def fitting(draw: st.DrawFn, schema: Any) -> Any:
    """Draw an input that mostly fits a plain schema, so that it is often accepted."""
    kind = schema.get("type", "string")
    kind = draw(st.sampled_from(kind)) if isinstance(kind, list) else kind
    low = schema.get("minimum", 0)
    match kind:
        case "object":
            below = schema.get("properties", {})
            optional = [name for name in below if draw(st.booleans())]
            names = {*schema.get("required", []), *optional}
            rest = schema.get("additionalProperties")
            open_ = rest if isinstance(rest, dict) else {}
            return {name: draw(fitting(below.get(name, open_))) for name in sorted(names)}
        case "array":
            size = draw(st.integers(schema.get("minItems", 0), 4))
            return [draw(fitting(schema.get("items", {}))) for _ in range(size)]
        case "string":
            return draw(st.sampled_from(schema.get("enum", ["", "a", "bb", "Ünd", "🜁🜁🜁"])))
        case "integer":
            return draw(st.integers(low, low + 2))
        case "number":
            return draw(st.integers(low, low + 2) | st.floats(low, low + 1))
        case "boolean":
            return draw(st.booleans())
        case _:
            return None


@st.composite
def schemas_and_inputs(draw: st.DrawFn) -> tuple[dict[str, Any], Any]:
    schema = draw(PLAIN)
    return schema, draw(fitting(schema) | INPUTS)


@given(schemas_and_inputs())
def test_what_surely_fits_a_plain_schema_is_valid(drawn: tuple[dict[str, Any], Any]) -> None:
    schema, value = drawn
    check = plain_check(schema)
    assert check is not None
    valid = validator_for(schema, offline=True).is_valid
    fits = check(value)
    event(f"fits: {fits}")
    assert not fits or valid(value)


@given(ODD, INPUTS)
def test_no_schema_counts_as_plain_that_the_library_reads_otherwise(
    schema: dict[str, Any], value: Any
) -> None:
    check = plain_check(schema)
    if check is None:
        return
    valid = validator_for(schema, offline=True).is_valid
    assert not check(value) or valid(value)


def spec_of(schema: dict[str, Any]) -> ToolSpec:
    return ToolSpec(name="t", origin=Origin(kind="host", tool="t"), description="", schema=schema)


@given(schemas_and_inputs())
def test_a_gate_says_the_same_with_and_without(drawn: tuple[dict[str, Any], Any]) -> None:
    schema, value = drawn
    gate_module._plainly.asked = 0
    gate, slow = Gate(spec_of(schema)), Gate(spec_of(schema), plain=False)
    assert gate.fault == slow.fault is None
    raw = RawCall(tool="t", input=value)
    if isinstance(admit(raw, Catalog(specs=(spec_of({"type": "object"}),))), Admitted):
        assert gate.accepts(value) == slow.accepts(value)
        assert gate.problems(value) == slow.problems(value)


@given(schemas_and_inputs())
def test_admission_says_the_same_without_a_quick_look(drawn: tuple[dict[str, Any], Any]) -> None:
    schema, value = drawn
    gate_module._plainly.asked = 0
    catalog = Catalog(specs=(spec_of(schema),))
    raw = RawCall(tool="t", input=value)
    assert admit(raw, catalog) == admit(raw, catalog, quick=False)


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "object"}, {"a": "x", "b": 1, "c": None, "d": 1.5, "e": True}),
        (
            {
                "$schema": "https://json-schema.org/draft/2020-12/schema",
                "type": "object",
                "properties": {
                    "path": {"type": "string", "minLength": 1},
                    "lines": {"type": "array", "items": {"type": "integer", "minimum": 0}},
                    "as": {"type": ["string", "null"]},
                },
                "required": ["path"],
                "additionalProperties": False,
            },
            {"path": "/a", "lines": [1, 2], "as": None},
        ),
    ],
)
def test_usual_inputs_surely_fit(schema: dict[str, Any], value: Any) -> None:
    check = plain_check(schema)
    assert check is not None
    assert check(value)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "minProperties": 1},
        {"type": "object", "properties": {"a": {"$ref": "#"}}},
        {"type": "object", "properties": {"a": True}},
        {"type": "object", "required": ["a", "a"]},
        {"type": "object", "required": None},
        {"type": "string", "enum": []},
        {"type": "string", "enum": None},
        {"type": "integer", "minimum": 1.5},
        {"type": "text"},
        {"type": []},
        {"enum": ["a"]},
        {"$schema": "http://json-schema.org/draft-04/schema#", "type": "object"},
    ],
)
def test_other_schemas_are_left_to_the_library(schema: dict[str, Any]) -> None:
    assert plain_check(schema) is None


def test_a_deep_schema_is_left_to_the_library() -> None:
    schema: dict[str, Any] = {"type": "object"}
    for _ in range(40):
        schema = {"type": "object", "properties": {"a": schema}}
    assert plain_check(schema) is None


def test_a_process_that_asks_often_turns_to_the_library() -> None:
    gate_module._plainly.asked = 0
    gate = Gate(spec_of({"type": "object", "properties": {"a": {"type": "string"}}}))
    first: Callable[[Any], bool] = gate.accepts
    for _ in range(100):
        assert gate.accepts({"a": "x"})
        assert not gate.accepts({"a": 1})
    assert gate.accepts != first
    assert Gate(spec_of({"type": "object"}))._fits is None


def test_an_input_is_admitted_by_a_plain_schema() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    admitted = admit(RawCall(tool="t", input={"a": "x"}), Catalog(specs=(spec_of(schema),)))
    assert isinstance(admitted, Admitted)

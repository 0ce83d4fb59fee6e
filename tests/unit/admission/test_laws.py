"""Laws of admission, for any schema and any call."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from policy.admission import Admitted, RawCall, Refused, admit
from policy.catalog import Catalog, read_listing
from policy.model import thaw
from tests.examples import examples

NAMES = st.sampled_from(["a", "b", "c", "A"])
SCALARS: st.SearchStrategy[Any] = (
    st.none()
    | st.booleans()
    | st.integers(-20, 20)
    | st.floats(-5, 5)
    | st.sampled_from(["", "5", "true", "null", '{"a": 1}', "[1]", '["x"]', "1e5", "x"])
    | st.text(max_size=3)
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)
INPUTS = st.dictionaries(NAMES, VALUES, max_size=4)
TYPES = st.sampled_from(["string", "number", "integer", "boolean", "null", "array", "object"])


def objects(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {"type": st.just("object")},
        optional={
            "properties": st.dictionaries(NAMES, inner, max_size=3),
            "required": st.lists(NAMES, max_size=2, unique=True),
            "additionalProperties": st.booleans() | inner,
            "minProperties": st.integers(0, 2),
            "patternProperties": st.dictionaries(st.sampled_from(["^a", "b$"]), inner, max_size=1),
        },
    )


def compounds(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    lists = st.lists(inner, min_size=1, max_size=2)
    return (
        objects(inner)
        | st.fixed_dictionaries({"type": st.just("array")}, optional={"items": inner})
        | st.fixed_dictionaries({"anyOf": lists})
        | st.fixed_dictionaries({"oneOf": lists})
        | st.fixed_dictionaries({"allOf": lists})
        | st.just({"$ref": "#/$defs/loop"})
    )


LEAVES = st.fixed_dictionaries(
    {},
    optional={
        "type": TYPES | st.lists(TYPES, min_size=1, max_size=2, unique=True),
        "default": SCALARS,
        "enum": st.lists(SCALARS, min_size=1, max_size=2),
        "minimum": st.integers(-2, 2),
        "maxLength": st.integers(0, 3),
    },
)
PARTS = st.recursive(LEAVES, compounds, max_leaves=6)
SCHEMAS = st.builds(
    lambda schema, loop: {**schema, "$defs": {"loop": loop}}, objects(PARTS), objects(PARTS)
)
OF_TYPE: dict[str, st.SearchStrategy[Any]] = {
    "string": st.text(max_size=3),
    "number": st.floats(-5, 5),
    "integer": st.integers(-20, 20),
    "boolean": st.booleans(),
    "null": st.none(),
    "array": st.just([]),
}


def likely(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Return values that a schema is likely to accept: of its type, with the required fields."""
    kind = schema.get("type")
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if kind == "object":
        fields = {name: likely(part) for name, part in schema.get("properties", {}).items()}
        required = {name: fields.pop(name, SCALARS) for name in schema.get("required", ())}
        return st.fixed_dictionaries(required, optional=fields)
    return OF_TYPE[kind] if isinstance(kind, str) else SCALARS


SCHEMAS_AND_INPUTS = SCHEMAS.flatmap(
    lambda schema: st.tuples(st.just(schema), likely(schema) | INPUTS)
)
ANYTHING = st.recursive(
    SCALARS
    | st.floats()
    | st.integers()
    | st.decimals()
    | st.binary(max_size=4)
    | st.text(st.characters(), max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text() | st.integers(), inner, max_size=3)
    ),
    max_leaves=6,
)


def catalog_of(schema: Any) -> Catalog:
    return Catalog(specs=read_listing([{"name": "tool", "parameters": schema}]).specs)


@settings(max_examples=examples(150), deadline=None)
@given(SCHEMAS_AND_INPUTS)
def test_what_is_admitted_fits_the_schema_and_is_admitted_unchanged(
    drawn: tuple[dict[str, Any], dict[str, Any]],
) -> None:
    schema, value = drawn
    catalog = catalog_of(schema)
    result = admit(RawCall(tool="tool", input=value), catalog)
    assume(isinstance(result, Admitted))
    assert isinstance(result, Admitted)
    assert Draft202012Validator(schema).is_valid(thaw(result.call.input))
    again = admit(result.call, catalog)
    assert again == Admitted(call=result.call, spec=result.spec)


@settings(max_examples=examples(100), deadline=None)
@given(SCHEMAS, INPUTS)
def test_text_and_value_are_admitted_alike(schema: dict[str, Any], value: dict[str, Any]) -> None:
    catalog = catalog_of(schema)
    as_value = admit(RawCall(tool="tool", input=value), catalog)
    assert admit(RawCall(tool="tool", input=json.dumps(value)), catalog) == as_value


@settings(max_examples=examples(150), deadline=None)
@given(SCHEMAS_AND_INPUTS)
def test_what_is_not_mended_keeps_every_value_given(
    drawn: tuple[dict[str, Any], dict[str, Any]],
) -> None:
    schema, value = drawn
    result = admit(RawCall(tool="tool", input=value), catalog_of(schema))
    assume(isinstance(result, Admitted) and not result.repairs)
    assert isinstance(result, Admitted)
    assert kept(value, thaw(result.call.input))


def kept(before: Any, after: Any) -> bool:
    """Tell whether `after` is `before` with at most fields added."""
    if isinstance(before, dict) and isinstance(after, dict):
        return all(name in after and kept(item, after[name]) for name, item in before.items())
    if isinstance(before, list) and isinstance(after, list):
        return len(before) == len(after) and all(map(kept, before, after))
    return type(before) is type(after) and bool(before == after)


@settings(max_examples=examples(150), deadline=None)
@given(ANYTHING, ANYTHING, SCHEMAS)
def test_admitting_anything_ends_in_a_call_or_a_reason(
    tool: Any, value: Any, schema: dict[str, Any]
) -> None:
    catalog = catalog_of(schema)
    for name in (tool, "tool", "Tool"):
        result = admit(RawCall(tool=name, input=value), catalog)
        assert isinstance(result, Admitted) or result.message


@given(ANYTHING)
def test_no_schema_makes_admission_raise(schema: Any) -> None:
    result = admit(RawCall(tool="tool", input={"a": Decimal("1e300")}), catalog_of(schema))
    assert isinstance(result, (Admitted, Refused))

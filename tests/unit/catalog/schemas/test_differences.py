"""Where two schemas of one tool differ in what a call may contain."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema_rs import validator_for

from policy.catalog import schema_differences, schema_strictify
from tests.examples import examples
from tests.unit.catalog.schemas.test_model_form import NAMES, SCALARS, VALUES, documents

TEXT = {"type": "string"}
NUMBER = {"type": "integer"}


def of(part: Any, *required: str) -> dict[str, Any]:
    """Return the schema of an input with one argument `a`."""
    return {"type": "object", "properties": {"a": part}, "required": list(required)}


def mapped(part: Any) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": part}


SAME: list[tuple[Any, Any]] = [
    ({}, {"type": "object", "properties": {}, "additionalProperties": False}),
    ({"type": "object"}, {"type": "object", "properties": {}}),
    (of(TEXT), {**of(TEXT), "additionalProperties": False}),
    (of({"const": "x"}), of({"enum": ["x"]})),
    (of({"enum": ["x", "y"]}), of({"type": "string", "enum": ["y", "x"]})),
    (of({"type": ["string", "null"]}), of(TEXT)),
    (of({"anyOf": [TEXT, {"type": "null"}], "default": None}), of(TEXT)),
    (of({"anyOf": [TEXT, NUMBER]}), of({"anyOf": [{**NUMBER, "description": "n"}, TEXT]})),
    (of(NUMBER), of({**NUMBER, "maximum": 9, "default": 3})),
    (of({**NUMBER, "maximum": 9.0}), of({**NUMBER, "maximum": 9})),
    (of({"type": "array", "items": TEXT}), of({"type": "array", "items": {**TEXT, "title": "t"}})),
    (of({"type": "object"}), of(mapped(True))),
    (of({"description": "an argument called so", **of(TEXT)}), of(of(TEXT))),
]


@pytest.mark.parametrize(("listed", "own"), SAME)
def test_what_means_the_same_does_not_differ(listed: Any, own: Any) -> None:
    assert schema_differences(listed, own) == ()


UNLIKE: list[tuple[Any, Any, str]] = [
    (of(TEXT), of(NUMBER), "the type of `a` is string in the list, integer in the tool"),
    (of({}), of(TEXT), "the type of `a` is any value in the list, string in the tool"),
    (of(NUMBER), of({"type": "number"}), "the type of `a` is integer in the list, number in"),
    (of(TEXT), {"type": "object"}, "the tool has no `a`"),
    ({"type": "object"}, of(TEXT), "the list lacks `a`"),
    (of(TEXT, "a"), of(TEXT), "`a` is required only in the list"),
    (of(TEXT), of(TEXT, "a"), "`a` is required by the tool, and optional in the list"),
    (of({"type": ["string", "null"]}, "a"), of(TEXT, "a"), "is null or string in the list"),
    (of({"enum": ["x"]}), of({"enum": ["x", "y"]}), "`a` takes other values in the list"),
    (of({**TEXT, "enum": ["x"]}), of(TEXT), "`a` takes other values in the list"),
    (of({"anyOf": [TEXT, NUMBER]}), of({"anyOf": [TEXT, mapped(TEXT)]}), "`a` takes other values"),
    (of({**NUMBER, "maximum": 9}), of(NUMBER), "`a` has `maximum` 9 in the list, which the tool"),
    (of({**NUMBER, "default": 9}), of({**NUMBER, "default": 8}), "`a` has `default` 9 in the list"),
    (of(of(TEXT)), of(of(NUMBER)), "the type of `a.a` is string in the list, integer in the tool"),
    (of({"type": "array", "items": TEXT}), of({"type": "array", "items": NUMBER}), "of `a.*` is"),
    (of({"type": "array"}), of({"type": "array", "items": NUMBER}), "`a.*` is any value in the"),
    (of(mapped(TEXT)), of(mapped(NUMBER)), "the type of `a.*` is string in the list, integer"),
    (of(mapped(False)), of(mapped(True)), "`a.*` takes other values in the list"),
]


@pytest.mark.parametrize(("listed", "own", "said"), UNLIKE)
def test_what_a_call_may_contain_otherwise_is_a_difference(
    listed: Any, own: Any, said: str
) -> None:
    (found,) = schema_differences(listed, own)
    assert said in found


def reworded(schema: Any) -> Any:
    """Return a schema that says the same: other remarks, another order, nothing closed."""
    # In `allOf`, an object that is closed refuses the fields of the other parts.
    return _reworded(schema, opened="allOf" not in json.dumps(schema), names=False)


def _reworded(schema: Any, *, opened: bool, names: bool) -> Any:
    if isinstance(schema, list):
        return [_reworded(part, opened=opened, names=False) for part in schema]
    if not isinstance(schema, dict):
        return schema
    found = {
        key: _reworded(part, opened=opened, names=not names and key in ("properties", "$defs"))
        for key, part in schema.items()
    }
    if names:
        return dict(reversed(found.items()))
    if opened and "properties" in found and found.get("additionalProperties") is False:
        del found["additionalProperties"]
    for key in ("required", "enum", "anyOf", "oneOf"):
        if key in found:
            found[key] = found[key][::-1]
    for key in ("title", "pattern"):
        found.pop(key, None)
    return {"description": "said otherwise", "$comment": "so", **dict(reversed(found.items()))}


@settings(max_examples=examples(60), deadline=None)
@given(documents())
def test_a_schema_differs_from_itself_in_no_form_and_no_words(schema: Any) -> None:
    assert schema_differences(schema, schema) == ()
    assert schema_differences(schema_strictify(schema), schema) == ()
    assert schema_differences(schema, schema_strictify(schema)) == ()
    assert schema_differences(reworded(schema), schema) == ()
    assert schema_differences(schema, reworded(schema)) == ()


@st.composite
def changed(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, Any]]:
    """A schema, and one that has another argument, another type or other required arguments."""
    one = draw(documents())
    properties = dict(one["properties"])
    properties[draw(NAMES)] = draw(SCALARS)
    required = [name for name in properties if draw(st.booleans())]
    return one, {**one, "properties": properties, "required": required}


def without_nulls(value: Any) -> bool:
    if isinstance(value, (list, dict)):
        return all(map(without_nulls, value.values() if isinstance(value, dict) else value))
    return value is not None


@settings(max_examples=examples(100), deadline=None)
@given(changed(), st.lists(st.dictionaries(NAMES, VALUES, max_size=3), max_size=6))
def test_where_nothing_differs_the_list_accepts_what_the_tool_does(
    schemas: tuple[dict[str, Any], dict[str, Any]], values: list[Any]
) -> None:
    listed, own = schemas
    if schema_differences(listed, own):
        return
    accepts, listed_accepts = (
        validator_for(schema_strictify(one)).is_valid for one in (own, listed)
    )
    assert all(listed_accepts(v) for v in values if without_nulls(v) and accepts(v))


def test_a_schema_that_grows_or_holds_itself_is_compared_in_time() -> None:
    doubling = {
        f"D{i}": {
            "type": "object",
            "properties": {side: {"$ref": f"#/$defs/D{i + 1}"} for side in ("left", "right")},
        }
        for i in range(40)
    }
    schema = {**of({"$ref": "#/$defs/D0"}), "$defs": {**doubling, "D40": TEXT}}
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}}
    began = time.process_time()
    assert schema_differences(schema, schema) == ()
    assert schema_differences(of(schema), schema)
    looped = {**of({"$ref": "#/$defs/Node"}), "$defs": {"Node": node}}
    assert schema_differences(looped, looped) == ()
    assert time.process_time() - began < 20

"""The forms of schemas that models see."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema_rs import validator_for
from pydantic import BaseModel, Field

from policy.catalog import Arguments, schema_problem, schema_strictify, strict_schema
from tests.examples import examples

NULL = {"type": "null"}


def every_schema(schema: Any) -> Iterator[dict[str, Any]]:
    """Yield a plain schema and all that stand in it."""
    yield schema
    for key in ("properties", "$defs", "definitions", "patternProperties"):
        for part in schema.get(key, {}).values():
            yield from every_schema(part)
    for key in ("anyOf", "oneOf", "allOf", "prefixItems"):
        for part in schema.get(key, ()):
            yield from every_schema(part)
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            yield from every_schema(schema[key])


class Leaf(BaseModel):
    when: str = Field("now", json_schema_extra={"format": "date"}, title="When")
    size: Annotated[int, Field(json_schema_extra={"format": "uint32"})]


class Branch(BaseModel):
    leaf: Leaf
    maybe: Leaf | None = None
    leaves: list[Leaf] = []
    pair: tuple[Leaf, int] | None = None
    named: dict[str, Leaf] = {}


class Tree(BaseModel):
    children: list[Tree] = []
    name: Annotated[str, Field(pattern="^[a-z]+$")]


def test_nothing_that_models_trip_over_is_left() -> None:
    for model in (Branch, Tree):
        text = json.dumps(schema_strictify(model.model_json_schema()))
        assert not any(word in text for word in ("$ref", "$defs", "format", "pattern", "title"))
    assert schema_strictify(Leaf.model_json_schema())["properties"]["size"] == {
        "type": "integer",
        "minimum": 0,
    }


def test_fields_may_be_called_like_keywords() -> None:
    names = ("title", "format", "pattern", "$ref", "default", "properties", "required")
    schema = {"type": "object", "properties": {name: {"type": "string"} for name in names}}
    assert set(schema_strictify(schema)["properties"]) == set(names)
    strict = strict_schema(schema)
    assert strict["required"] == list(names)
    assert all(part == {"type": ["string", "null"]} for part in strict["properties"].values())


def test_what_holds_itself_is_cut_to_its_kind() -> None:
    plain = schema_strictify(Tree.model_json_schema())
    assert plain["properties"]["children"]["items"]["type"] == "object"
    lists = {"$defs": {"L": {"type": "array", "items": {"$ref": "#/$defs/L"}}}}
    assert schema_strictify({**lists, "$ref": "#/$defs/L"}) == {
        "type": "array",
        "items": {"type": "array"},
    }


def test_a_reference_keeps_what_stands_beside_it() -> None:
    schema = {
        "$defs": {"S": {"type": "string", "minLength": 1}},
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/S", "maxLength": 3, "description": "A."}},
    }
    part = schema_strictify(schema)["properties"]["a"]
    accepts = validator_for(part).is_valid
    assert part["description"] == "A."
    assert [accepts(text) for text in ("", "ab", "abcd")] == [False, True, False]


def test_objects_that_hold_together_become_one() -> None:
    a = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
    b = {"type": "object", "properties": {"b": {"type": "string"}}}
    assert schema_strictify({"allOf": [a, b], "description": "Both."}) == {
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
        "required": ["a"],
        "additionalProperties": False,
        "description": "Both.",
    }


def test_parts_of_one_object_do_not_close_it() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "string"}},
        "anyOf": [
            {"properties": {"b": {"type": "string"}}, "required": ["b"]},
            {"properties": {"c": {"type": "string"}}, "required": ["c"]},
        ],
    }
    accepts = validator_for(schema_strictify(schema)).is_valid
    assert accepts({"a": "1", "b": "2"})
    assert not accepts({"a": "1"})


def test_a_small_schema_does_not_unfold_into_a_huge_one() -> None:
    size = 40
    doubling = {
        f"D{i}": {
            "type": "object",
            "properties": {side: {"$ref": f"#/$defs/D{i + 1}"} for side in ("left", "right")},
        }
        for i in range(size)
    }
    schema = {
        "type": "object",
        "properties": {"x": {"$ref": "#/$defs/D0"}},
        "$defs": {**doubling, f"D{size}": {"type": "string"}},
    }
    plain = schema_strictify(schema)
    assert sum(1 for _ in every_schema(plain)) < 100_000
    assert "$ref" not in json.dumps(plain)


def test_a_deep_schema_ends_somewhere() -> None:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(5000):
        schema = {"type": "object", "properties": {"x": schema}}
    assert sum(1 for _ in every_schema(schema_strictify(schema))) < 200


def test_tagged_objects_become_one_flat_object() -> None:
    class Circle(BaseModel):
        """A circle."""

        type: Literal["circle"]
        radius: int
        colour: Literal["red"] = "red"

    class Square(BaseModel):
        type: Literal["square"]
        side: int
        colour: Literal["blue", "green"]

    class Drawing(BaseModel):
        shape: Annotated[Circle | Square, Field(discriminator="type")]
        maybe: Circle | Square | None = None

    plain = schema_strictify(Drawing.model_json_schema())
    shape = plain["properties"]["shape"]
    assert shape["properties"]["type"] == {
        "type": "string",
        "enum": ["circle", "square"],
        "description": "`circle`: A circle. `square`",
    }
    assert shape["properties"]["colour"] == {
        "type": "string",
        "enum": ["red", "blue", "green"],
        "description": "(Required by `square`; optional in `circle` (default red).)",
    }
    assert shape["required"] == ["type"]
    assert shape["additionalProperties"] is False
    assert {"type": "null"} in plain["properties"]["maybe"]["anyOf"]
    assert len(plain["properties"]["maybe"]["anyOf"]) == 2


@pytest.mark.parametrize(
    ("optional", "strict"),
    [
        ({"type": "string"}, {"type": ["string", "null"]}),
        ({"type": ["string", "null"]}, {"type": ["string", "null"]}),
        ({"type": "string", "enum": ["a"]}, {"type": ["string", "null"], "enum": ["a", None]}),
        ({"const": 1}, {"anyOf": [{"const": 1}, NULL]}),
        ({"enum": [1, None]}, {"anyOf": [{"enum": [1, None]}, NULL]}),
        ({"anyOf": [{"type": "string"}, NULL]}, {"anyOf": [{"type": "string"}, NULL]}),
        ({"anyOf": [{"type": "string"}]}, {"anyOf": [{"type": "string"}, NULL]}),
        ({"oneOf": [{"type": "string"}, NULL]}, {"oneOf": [{"type": "string"}, NULL]}),
        ({"$ref": "#/$defs/X"}, {"anyOf": [{"$ref": "#/$defs/X"}, NULL]}),
        ({"allOf": [{"type": "string"}]}, {"anyOf": [{"allOf": [{"type": "string"}]}, NULL]}),
        ({}, {}),
        ({"description": "Any."}, {"description": "Any."}),
    ],
)
def test_what_may_be_left_out_may_be_null(optional: Any, strict: Any) -> None:
    schema = {"type": "object", "properties": {"x": optional}, "$defs": {"X": {"type": "string"}}}
    assert strict_schema(schema)["properties"]["x"] == strict
    kept = strict_schema({**schema, "required": ["x"]})
    assert kept["properties"]["x"] == optional


@pytest.mark.parametrize("place", ["items", "prefixItems", "anyOf", "$defs", "properties"])
def test_objects_are_strict_wherever_they_stand(place: str) -> None:
    inner = {"type": "object", "properties": {"a": {"type": "string"}}}
    held: Any = {"items": inner, "prefixItems": [inner], "anyOf": [inner]}.get(place, {"k": inner})
    strict = strict_schema(
        {"type": "object", "properties": {"x": {place: held, "required": ["k"]}}, "required": ["x"]}
    )
    assert [part for part in every_schema(strict) if part.get("required") == ["a"]] == [
        {
            "type": "object",
            "properties": {"a": {"type": ["string", "null"]}},
            "required": ["a"],
            "additionalProperties": False,
        }
    ]


def test_what_is_no_object_is_left_as_it_is() -> None:
    for schema in ({"type": "string"}, {"enum": ["a"]}, {"type": "array", "items": {}}, {}):
        assert strict_schema(schema) == schema
    empty = {"type": "object", "properties": {}}
    assert strict_schema(empty) == {**empty, "required": [], "additionalProperties": False}


def test_values_in_a_schema_are_no_schemas() -> None:
    value = {"properties": {"a": {"type": "string"}}, "title": "T", "$ref": "#"}
    schema = {
        "type": "object",
        "properties": {"x": {"default": value, "enum": [value]}},
        "required": ["x"],
    }
    assert schema_strictify(schema)["properties"]["x"] == {"default": value, "enum": [value]}
    assert strict_schema(schema)["properties"]["x"] == {"default": value, "enum": [value]}


# ------------------------------------------------------------------ laws

NAMES = st.sampled_from(["a", "b", "c", "title", "type"])
SCALARS = st.sampled_from(
    [
        {"type": "string", "title": "T"},
        {"type": "string", "format": "uri"},
        {"type": "string", "pattern": "^a*$"},
        {"type": "integer", "format": "uint64"},
        {"type": "integer", "minimum": 1},
        {"type": "number"},
        {"type": "boolean"},
        {"type": "string", "enum": ["x", "y"]},
        {"const": "x", "type": "string"},
        {"$ref": "#/$defs/Kind"},
        {"$ref": "#/$defs/Node"},
        NULL,
    ]
)
VALUES = st.recursive(
    st.sampled_from([None, True, 0, 1, 2.5, "", "a", "x", "y"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)


@st.composite
def objects(draw: st.DrawFn, inner: st.SearchStrategy[Any]) -> dict[str, Any]:
    properties = draw(st.dictionaries(NAMES, inner, max_size=3))
    required = [name for name in properties if draw(st.booleans())]
    return {
        "type": "object",
        "title": "O",
        "properties": properties,
        **({"required": required} if required else {}),
        "additionalProperties": False,
    }


def containers(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return (
        objects(inner)
        | st.builds(lambda item: {"type": "array", "items": item}, inner)
        | st.builds(
            lambda items: {"type": "array", "prefixItems": items, "items": False},
            st.lists(inner, min_size=1, max_size=2),
        )
        | st.builds(lambda part: {"anyOf": [part, NULL], "default": None}, inner)
        | st.builds(lambda parts: {"anyOf": parts}, st.lists(inner, min_size=1, max_size=3))
        | st.builds(lambda parts: {"oneOf": parts}, st.lists(inner, min_size=1, max_size=3))
        | st.builds(lambda part: {"allOf": [part]}, inner)
        | st.builds(lambda part: {"type": "object", "additionalProperties": part}, inner)
    )


PARTS = st.recursive(SCALARS, containers, max_leaves=6)


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    """Schemas as libraries generate them: a document of closed objects, which may hold itself."""
    return {
        **draw(objects(PARTS)),
        "$defs": {
            "Kind": {"type": "string", "enum": ["x", "y"], "title": "Kind"},
            "Node": draw(objects(PARTS)),
        },
    }


def completed(value: Any, schema: dict[str, Any]) -> Any:
    """Return the value with null for every field that a plain schema names and it lacks."""
    for branch in schema.get("anyOf", ()):
        if validator_for(branch).is_valid(value):
            return completed(value, branch)
    if isinstance(value, dict):
        named, rest = schema.get("properties", {}), schema.get("additionalProperties")
        below = {k: named.get(k, rest if isinstance(rest, dict) else {}) for k in value}
        return {
            **{k: completed(v, below[k]) for k, v in value.items()},
            **{name: None for name in named if name not in value},
        }
    if isinstance(value, list):
        prefix = schema.get("prefixItems", [])
        rest = schema.get("items")
        parts = [*prefix, *[rest if isinstance(rest, dict) else {}] * len(value)]
        return [completed(item, part) for item, part in zip(value, parts, strict=False)]
    return value


@settings(max_examples=examples(60), deadline=None)
@given(documents(), st.lists(st.dictionaries(NAMES, VALUES, max_size=3), max_size=4))
def test_the_plain_form_accepts_what_the_given_one_does(schema: Any, values: list[Any]) -> None:
    given_accepts = validator_for(schema).is_valid
    plain_accepts = validator_for(schema_strictify(schema)).is_valid
    assert all(plain_accepts(value) for value in values if given_accepts(value))


@settings(max_examples=examples(60), deadline=None)
@given(documents(), st.lists(st.dictionaries(NAMES, VALUES, max_size=3), max_size=4))
def test_the_strict_form_accepts_what_is_completed_with_nulls(
    schema: Any, values: list[Any]
) -> None:
    plain = schema_strictify(schema)
    strict = strict_schema(plain)
    accepts = validator_for(strict).is_valid
    for value in values:
        if validator_for(plain).is_valid(value):
            assert accepts(completed(value, plain)), (plain, strict, value)


@settings(max_examples=examples(60), deadline=None)
@given(documents())
def test_both_forms_are_the_same_when_made_again(schema: Any) -> None:
    plain = schema_strictify(schema)
    assert schema_strictify(plain) == plain
    strict = strict_schema(plain)
    assert strict_schema(strict) == strict
    assert schema_strictify(strict) == strict


@settings(max_examples=examples(60), deadline=None)
@given(documents())
def test_no_form_holds_what_models_trip_over(schema: Any) -> None:
    for form in (schema_strictify(schema), strict_schema(schema_strictify(schema))):
        assert schema_problem(form) is None
        for part in every_schema(form):
            assert not part.keys() & {"$ref", "$defs", "format", "pattern", "title", "oneOf"}
            if "properties" in part and not part.keys() & {"anyOf", "allOf"}:
                assert part["additionalProperties"] is False


class Spare(Arguments):
    a: int = 1
    b: str | None = None


def test_every_property_of_a_strict_schema_is_required() -> None:
    strict = strict_schema(schema_strictify(Spare.model_json_schema()))
    assert strict["required"] == ["a", "b"]

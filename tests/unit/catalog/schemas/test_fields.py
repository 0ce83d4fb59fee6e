"""What a JSON Schema declares of the fields of an input."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy.catalog import (
    fields_of,
    lookup,
    named_fields,
    schema_problem,
    schema_strictify,
    strict_schema,
    unfolded_size,
)

NODE = {
    "type": "object",
    "properties": {
        "next": {"$ref": "#/$defs/Node"},
        "size": {"type": ["integer", "null"]},
        "tag": {"enum": ["a", "b"]},
    },
    "required": ["tag"],
}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "$defs": {"Node": NODE},
    "required": ["node"],
    "properties": {
        "node": {"$ref": "#/$defs/Node"},
        "maybe": {"anyOf": [{"$ref": "#/$defs/Node"}, {"type": "null"}]},
        "many": {"type": "array", "items": {"$ref": "#/$defs/Node"}},
        "pair": {"prefixItems": [{"type": "string"}, {"type": "boolean"}], "items": False},
        "headers": {"type": "object", "additionalProperties": {"type": "string"}},
        "free": {"type": "object"},
        "either": {
            "oneOf": [
                {"type": "object", "properties": {"x": {"type": "string"}}},
                {"type": "object", "properties": {"y": {"type": "number"}}},
            ]
        },
        "both": {"allOf": [{"type": "number"}, {"type": ["integer", "string"]}]},
    },
}


@pytest.mark.parametrize(
    ("path", "kinds"),
    [
        (("node",), {"object"}),
        (("node", "next", "next", "size"), {"integer", "null"}),
        (("maybe",), {"object", "null"}),
        (("maybe", "size"), {"integer", "null"}),
        (("many",), {"list"}),
        (("many", "*", "tag"), {"string"}),
        (("many", 3, "tag"), {"string"}),
        (("pair", 0), {"string"}),
        (("pair", 1), {"boolean"}),
        (("headers", "Accept"), {"string"}),
        (("free", "x", "y"), {"any"}),
        (("either", "x"), {"any"}),
        (("both",), {"integer"}),
    ],
)
def test_a_schema_declares_the_types_of_a_field(
    path: tuple[str | int, ...], kinds: set[str]
) -> None:
    info = lookup(SCHEMA, path)
    assert info.known
    assert info.types == kinds


@pytest.mark.parametrize("path", [("nope",), ("node", "nope"), ("pair", 2), ("both", "x")])
def test_a_field_that_the_schema_does_not_name_is_not_known(path: tuple[str | int, ...]) -> None:
    assert not lookup(SCHEMA, path).known


def test_required_and_choices_are_told() -> None:
    assert lookup(SCHEMA, ("node", "tag")).required
    assert not lookup(SCHEMA, ("maybe", "tag")).required
    assert lookup(SCHEMA, ("node", "tag")).choices == ("a", "b")


def test_named_fields_tells_free_maps_from_closed_objects() -> None:
    assert named_fields(SCHEMA, ("headers",)) is None
    assert named_fields(SCHEMA, ("free",)) is None
    assert named_fields(SCHEMA, ("node",)) == ("next", "size", "tag")
    assert named_fields({"type": "object"}) == ()
    assert named_fields({"type": "object", "additionalProperties": {}}) is None
    assert fields_of({"type": "object", "additionalProperties": True}) is None


def doubling(depth: int) -> dict[str, Any]:
    links = {
        f"a{i}": {"oneOf": [{"$ref": f"#/$defs/a{i + 1}"}, {"$ref": f"#/$defs/a{i + 1}"}]}
        for i in range(depth)
    }
    return {"type": "object", "$ref": "#/$defs/a0", "$defs": {**links, f"a{depth}": {}}}


def chain(length: int) -> dict[str, Any]:
    links = {f"a{i}": {"$ref": f"#/$defs/a{i + 1}"} for i in range(length)}
    return {"type": "object", "$ref": "#/$defs/a0", "$defs": {**links, f"a{length}": {}}}


def nested(depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {}
    for _ in range(depth):
        schema = {"type": "object", "properties": {"x": schema}}
    return schema


@pytest.mark.parametrize(
    ("schema", "word"),
    [
        (5, "not an object"),
        ({"type": "string"}, "object"),
        ({"type": ["object", "null"]}, "object"),
        ({"properties": {"a": {"$ref": "#/nope"}}}, "without a target"),
        ({"properties": {"a": {"$ref": "https://example.com/x"}}}, "without a target"),
        ({"properties": {"a": {"$ref": "#/properties/" + "9" * 5000}}}, "without a target"),
        ({"properties": {"a": {"$dynamicRef": "#x"}}}, "resolve"),
        (doubling(40), "too large"),
        (chain(5000), "too large"),
        (nested(2000), "deep"),
        ({"properties": {1: {}}}, "not a string"),
    ],
)
def test_a_schema_that_cannot_be_used_is_told_and_never_walked_for_long(
    schema: Any, word: str
) -> None:
    said = schema_problem(schema)
    assert said is not None
    assert word in said


def test_a_schema_may_refer_to_itself() -> None:
    assert schema_problem(SCHEMA) is None
    assert unfolded_size(SCHEMA)[1]


@pytest.mark.parametrize("schema", [doubling(300), chain(3000)])
def test_looking_into_a_hostile_schema_ends(schema: dict[str, Any]) -> None:
    assert not lookup(schema, ("a", "b", 0, "*")).required


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                "type properties items $ref anyOf oneOf allOf enum const required default "
                "additionalProperties prefixItems patternProperties $defs x then else".split()
            )
            | st.text(max_size=3),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@given(
    JSON.filter(lambda v: isinstance(v, dict)),
    st.lists(st.sampled_from(["x", "*", 0, 7]), max_size=3),
)
def test_looking_into_anything_never_raises(schema: Any, path: list[str | int]) -> None:
    lookup(schema, tuple(path))
    named_fields(schema, tuple(path))
    fields_of(schema)
    schema_problem(schema)
    schema_strictify(schema)


def test_strictify_inlines_closes_and_drops_what_models_trip_over() -> None:
    plain = schema_strictify(
        {
            "title": "T",
            "type": "object",
            "$defs": {"K": {"title": "K", "enum": ["a"], "type": "string"}},
            "properties": {
                "title": {"type": "string", "format": "uri", "pattern": "x", "title": "Title"},
                "kind": {"$ref": "#/$defs/K", "default": "a"},
            },
            "required": ["title"],
        }
    )
    assert plain == {
        "type": "object",
        "properties": {
            "title": {"type": "string"},
            "kind": {"enum": ["a"], "type": "string", "default": "a"},
        },
        "required": ["title"],
        "additionalProperties": False,
    }
    strict = strict_schema(plain)
    assert strict["required"] == ["title", "kind"]
    assert strict["properties"]["kind"]["type"] == ["string", "null"]
    assert strict["properties"]["kind"]["enum"] == ["a", None]


def test_strictify_cuts_a_schema_that_holds_itself() -> None:
    assert "$ref" not in str(schema_strictify(SCHEMA))

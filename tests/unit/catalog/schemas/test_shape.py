"""Whether results have the shape that a tool declares."""

from __future__ import annotations

from typing import Any

import pytest

from policy.catalog import SchemaView, has_shape, read_only_schema
from policy.model import freeze

ITEM = {"type": "object", "required": ["id"], "properties": {"id": {"type": "integer"}}}
LIST = {"type": "object", "properties": {"items": {"type": "array", "items": ITEM}}}
EITHER = {"anyOf": [{"type": "string", "pattern": "^a"}, {"type": "null"}]}
NODE = {
    "type": "object",
    "properties": {"below": {"type": "array", "items": {"$ref": "#/$defs/node"}}},
}
TREE = {"$ref": "#/$defs/node", "$defs": {"node": NODE}}


@pytest.mark.parametrize(
    ("schema", "value", "fits"),
    [
        (LIST, {"items": [{"id": 1}, {"id": 2, "more": []}], "next": None}, True),
        (LIST, {"items": [{"id": 1}, {}]}, False),
        (LIST, {"items": [{"id": "1"}]}, False),
        (LIST, {"items": {"id": 1}}, False),
        (LIST, [], False),
        (LIST, {}, True),
        (EITHER, None, True),
        (EITHER, "b", True),
        (EITHER, 1, False),
        ({"type": "number"}, 3, True),
        ({"type": "integer"}, 3.5, True),
        ({"type": "integer"}, True, False),
        ({}, {"anything": ["goes"]}, True),
        (TREE, {"below": [{"below": [{"below": []}]}]}, True),
        (TREE, {"below": [{"below": [{"below": [1]}]}]}, False),
    ],
)
def test_types_fields_and_what_is_required_count(schema: Any, value: Any, fits: bool) -> None:
    assert has_shape(freeze(value), SchemaView(read_only_schema(schema))) is fits


def test_what_is_nested_without_end_does_not_fit() -> None:
    value: Any = {}
    for _ in range(60):
        value = {"below": (value,)}
    assert has_shape(freeze(value), SchemaView(read_only_schema(TREE))) is False

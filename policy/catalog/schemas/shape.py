"""Whether a value has the shape that a schema declares: types, fields, and which are required.

It is what rules rely on when they are checked. Patterns, bounds and lists of choices do not count,
so that a result from which something was redacted keeps its shape.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policy.catalog.schemas.fields import requires
from policy.catalog.schemas.view import SchemaView
from policy.catalog.schemas.walk import Step, json_type_of

# A value that is nested more deeply has no shape that a schema declares.
_DEEPEST = 64


def has_shape(value: Any, schema: SchemaView) -> bool:
    """Return whether a frozen JSON value has the shape that a schema declares."""
    return _has_shape(value, schema, ())


def _has_shape(value: Any, schema: SchemaView, path: tuple[Step, ...]) -> bool:
    types = schema.lookup(path).types
    if len(path) > _DEEPEST or not ("any" in types or _type_of(value) in map(_as_number, types)):
        return False
    if isinstance(value, tuple):
        return all(_has_shape(item, schema, (*path, "*")) for item in value)
    if isinstance(value, Mapping):
        return _has_fields(value, schema, path)
    return True


def _has_fields(value: Mapping[str, Any], schema: SchemaView, path: tuple[Step, ...]) -> bool:
    node = schema.node(path)
    names = schema.named_fields(path)
    if node is not None and any(
        name not in value and requires(node, name, schema.schema) for name in names or ()
    ):
        return False
    return all(
        _has_shape(item, schema, (*path, name))
        for name, item in value.items()
        if names is None or name in names
    )


def _type_of(value: Any) -> str:
    return _as_number(json_type_of(value))


def _as_number(type_name: str) -> str:
    """Return the type of a value as rules know it: whole numbers are numbers."""
    return "number" if type_name == "integer" else type_name

"""The field that names the operation of a tool, found in the tool's schema."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from policy.catalog.schemas.flat_union import TAGS
from policy.catalog.schemas.model_form import schema_strictify

_MOST_OPERATIONS = 64
_JOINING = ("$ref", "allOf", "anyOf", "oneOf")


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationTag:
    """The field that names the operation of a tool, and all of its possible values."""

    name: str
    values: tuple[str, ...]


def operations_in(schema: Mapping[str, Any]) -> OperationTag | None:
    """Return the field that distinguishes a tool's operations, None where none certainly does.

    The schema may have all operations in one object, or be a union of their objects.
    """
    if any(key in schema for key in _JOINING):
        schema = schema_strictify(schema)
    properties, required = schema.get("properties"), schema.get("required")
    if not isinstance(properties, Mapping) or not isinstance(required, (list, tuple)):
        return None
    for name in TAGS:
        place = properties.get(name)
        values = place.get("enum") if name in required and isinstance(place, Mapping) else None
        if (
            isinstance(values, (list, tuple))
            and 0 < len(values) <= _MOST_OPERATIONS
            and all(isinstance(value, str) for value in values)
        ):
            return OperationTag(name=name, values=tuple(values))
    return None

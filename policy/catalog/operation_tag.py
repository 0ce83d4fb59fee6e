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


_MOST_JOINED = 1_000
_JOINED: dict[int, tuple[Mapping[str, Any], OperationTag | None]] = {}


def operations_in(schema: Mapping[str, Any]) -> OperationTag | None:
    """Return the field that distinguishes a tool's operations, None where none certainly does.

    The schema may have all operations in one object, or be a union of their objects.
    """
    if any(key in schema for key in _JOINING):
        return _in_union(schema)
    return _in_object(schema)


def _in_union(schema: Mapping[str, Any]) -> OperationTag | None:
    """Return the field of a schema that has to be joined first, which is done once."""
    known = _JOINED.get(id(schema))
    # Keeping the schema prevents reuse of its id.
    if known is not None and known[0] is schema:
        return known[1]
    found = _in_object(schema_strictify(schema))
    if len(_JOINED) >= _MOST_JOINED:
        _JOINED.clear()
    _JOINED[id(schema)] = (schema, found)
    return found


def _in_object(schema: Mapping[str, Any]) -> OperationTag | None:
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

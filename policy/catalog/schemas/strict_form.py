"""The strict form of a schema, in which a model must give a value for every field.

A valid input of the plain form, with null for each omitted field, is valid in the strict form.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policy.catalog.schemas.walk import Schema

_NULL = {"type": "null"}
_DEEPEST = 200
_NAMED = frozenset({"properties", "$defs", "definitions", "patternProperties"})
_LISTED = frozenset({"anyOf", "oneOf", "allOf", "prefixItems"})
_SINGLE = frozenset({"items", "additionalProperties", "additionalItems"})
# Beside one of these, other parts may name fields of the same object.
_JOINING = ("allOf", "anyOf", "oneOf", "$ref", "patternProperties")
# Keywords that do not exclude null, so that adding the type allows it.
_TYPED = frozenset(
    "type enum description default examples title format pattern minimum maximum "
    "exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength minItems maxItems "
    "uniqueItems items prefixItems properties required additionalProperties".split()
)


def strict_schema(schema: Schema) -> dict[str, Any]:
    """Return the schema with every property required, and null allowed for the optional ones.

    A schema that is not an object's, or allows null already, is not changed.
    """
    return _strict(schema, closing=True, depth=0)


def _strict(schema: Schema, *, closing: bool, depth: int) -> dict[str, Any]:
    if depth > _DEEPEST:
        return dict(schema)
    # All parts of an object may name fields of it: then none of them may exclude other fields.
    own = isinstance(schema.get("properties"), Mapping) or "allOf" in schema
    result: dict[str, Any] = {}
    for key, value in schema.items():
        part_closing = not own if key in ("anyOf", "oneOf") else key != "allOf"
        part_closing = part_closing and (closing or key not in _LISTED)
        result[key] = _below(key, value, closing=part_closing, depth=depth + 1)
    properties = result.get("properties")
    if isinstance(properties, Mapping):
        required = _strings(schema.get("required"))
        result["properties"] = {
            name: part if name in required or not isinstance(part, Mapping) else _nullable(part)
            for name, part in properties.items()
        }
        # A required field that is not among the properties stays required.
        result["required"] = list(dict.fromkeys((*properties, *required)))
        if closing and not any(key in schema for key in _JOINING):
            result["additionalProperties"] = False
    return result


def _below(key: str, value: Any, *, closing: bool, depth: int) -> Any:
    """Return what stands behind a keyword; values, negations and conditions stay as they are."""
    if key in _NAMED and isinstance(value, Mapping):
        return {name: _part(part, closing=True, depth=depth) for name, part in value.items()}
    if isinstance(value, (list, tuple)) and key in _LISTED | {"items"}:
        return [_part(part, closing=closing, depth=depth) for part in value]
    return _part(value, closing=True, depth=depth) if key in _SINGLE else value


def _part(value: Any, *, closing: bool, depth: int) -> Any:
    return _strict(value, closing=closing, depth=depth) if isinstance(value, Mapping) else value


def _nullable(schema: Schema) -> dict[str, Any]:
    if _takes_null(schema):
        return dict(schema)
    types = _strings(schema.get("type"))
    if types and not set(schema) - _TYPED:
        more = {"enum": [*schema["enum"], None]} if _lacks_null(schema.get("enum")) else {}
        return {**schema, "type": [*dict.fromkeys((*types, "null"))], **more}
    said = {k: v for k, v in schema.items() if k in ("description", "default", "examples")}
    rest = {key: value for key, value in schema.items() if key not in said}
    if set(rest) == {"anyOf"} and isinstance(rest["anyOf"], (list, tuple)):
        return {"anyOf": [*rest["anyOf"], _NULL], **said}
    return {"anyOf": [rest, _NULL], **said}


def _lacks_null(values: Any) -> bool:
    return isinstance(values, (list, tuple)) and None not in values


def _takes_null(schema: Schema) -> bool:
    """Return whether the schema certainly allows null."""
    if not set(schema) - {"description", "default", "examples", "title"}:
        return True
    if schema.get("type") is not None:
        named = _strings(schema["type"])
        return "null" in named and not _lacks_null(schema.get("enum")) and not set(schema) - _TYPED
    for key in ("anyOf", "oneOf"):
        others = set(schema) - {key, "description", "default", "examples", "title"}
        if isinstance(schema.get(key), (list, tuple)) and not others:
            matching = [b for b in schema[key] if isinstance(b, Mapping) and _takes_null(b)]
            return bool(matching) if key == "anyOf" else len(matching) == 1
    return False


def _strings(value: Any) -> tuple[str, ...]:
    """Return a string, or the strings in a list; a schema of a server may hold anything."""
    if isinstance(value, str):
        return (value,)
    listed = value if isinstance(value, (list, tuple)) else ()
    return tuple(one for one in listed if isinstance(one, str))

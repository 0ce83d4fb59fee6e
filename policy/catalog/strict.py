"""A JSON Schema as a library generates it, in; the plain forms that models and clients get, out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policy.catalog.walk import Schema, resolve

# What models trip over, or what only costs tokens. Patterns and formats are the argument model's.
_DROPPED = frozenset({"title", "format", "pattern", "$defs", "definitions", "$schema"})
_DEEPEST = 32


def schema_strictify(schema: Schema) -> dict[str, Any]:
    """Return the schema with references inlined, objects closed, formats and titles dropped.

    Optional fields stay optional and defaults stay shown. A reference to itself becomes any
    object.
    """
    return _plain(schema, schema, ())


def strict_schema(schema: Schema) -> dict[str, Any]:
    """Return the schema with every property required, and null allowed for the optional ones."""
    result = {key: _each(value) for key, value in schema.items()}
    properties = schema.get("properties")
    if isinstance(properties, Mapping):
        required = schema.get("required", ())
        result["properties"] = {
            name: strict_schema(part) if name in required else _nullable(strict_schema(part))
            for name, part in properties.items()
        }
        result["required"] = list(properties)
        result["additionalProperties"] = False
    return result


def _each(value: Any) -> Any:
    if isinstance(value, Mapping):
        return strict_schema(value)
    if isinstance(value, (list, tuple)):
        return [_each(item) for item in value]
    return value


def _nullable(schema: dict[str, Any]) -> dict[str, Any]:
    if "enum" in schema and None not in schema["enum"]:
        schema = {**schema, "enum": [*schema["enum"], None]}
    if "const" in schema:
        return {"anyOf": [schema, {"type": "null"}]}
    kinds = schema.get("type")
    if isinstance(kinds, str) and kinds != "null":
        return {**schema, "type": [kinds, "null"]}
    if isinstance(kinds, list):
        return schema if "null" in kinds else {**schema, "type": [*kinds, "null"]}
    for key in ("anyOf", "oneOf"):
        if key in schema and {"type": "null"} not in schema[key]:
            return {**schema, key: [*schema[key], {"type": "null"}]}
    return schema


def _plain(schema: object, root: Schema, inside: tuple[int, ...]) -> dict[str, Any]:
    if not isinstance(schema, Mapping):
        # `false` fits nothing; `true`, and what is no schema at all, says nothing.
        return {"not": {}} if schema is False else {}
    target = resolve(schema.get("$ref"), root)
    if target is not None:
        if id(target) in inside or len(inside) > _DEEPEST:
            return {"type": "object"}
        beside = {key: value for key, value in schema.items() if key != "$ref"}
        return _plain({**target, **beside}, root, (*inside, id(target)))
    result: dict[str, Any] = {}
    for key, value in schema.items():
        if key in _DROPPED:
            continue
        if key == "properties" and isinstance(value, Mapping):
            result[key] = {name: _plain(part, root, inside) for name, part in value.items()}
        elif key in ("default", "enum", "const", "examples"):
            result[key] = value
        elif isinstance(value, Mapping):
            result[key] = _plain(value, root, inside)
        elif isinstance(value, (list, tuple)):
            result[key] = [
                _plain(item, root, inside) if isinstance(item, Mapping) else item for item in value
            ]
        else:
            result[key] = value
    if "properties" in result:
        result["additionalProperties"] = False
    return result

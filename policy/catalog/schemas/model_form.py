"""The plain form of a JSON Schema that models get, from what a library or server wrote.

References are expanded, unions of tagged objects become one flat object, objects are closed, and
keywords that confuse models are removed. The plain form accepts every input that the original
accepts, except for fields that no schema names; the tool still checks everything it leaves out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policy.catalog.schemas.flat_union import flat_union
from policy.catalog.schemas.walk import Schema, json_types_of, resolve

# How deep and how large the result may be. A small schema can expand to a huge one.
_DEEPEST = 64
_LARGEST = 50_000

# Keywords with values or sizes, which are kept unchanged.
_KEPT = frozenset(
    "type description default enum const examples required minimum maximum exclusiveMinimum "
    "exclusiveMaximum multipleOf minLength maxLength minItems maxItems uniqueItems minProperties "
    "maxProperties deprecated readOnly writeOnly".split()
)
# Keywords for people only: beside a reference they add no condition to it.
_SAID = frozenset("description default examples deprecated readOnly writeOnly title".split())
_JOINING = ("allOf", "anyOf", "oneOf", "$ref", "if", "dependentSchemas")
_TYPES = {"list": "array"}


def schema_strictify(schema: Schema) -> dict[str, Any]:
    """Return the plain form of a schema; never raises.

    It has no `$ref`, `oneOf`, `format`, `pattern` or title, and integers with a minimum in place of
    unsigned numbers. Optional fields stay optional and defaults stay. A schema that contains itself
    is cut where it starts again, with only its type.
    """
    return _Plain(schema).written(schema, (), closing=True)


def union_branches(schema: Schema) -> tuple[Schema, ...]:
    """Return the plain objects that the plain form of a schema joins; none if it joins none."""
    plain = _Plain(schema)
    properties = plain.written(schema, (), closing=True).get("properties")
    return next((branches for joined, branches in plain.joined if joined is properties), ())


class _Plain:
    def __init__(self, root: Schema) -> None:
        self.root = root
        self.remaining = _LARGEST
        # The fields of each object that was joined from several, and these.
        self.joined: list[tuple[Mapping[str, Any], tuple[Schema, ...]]] = []

    def written(self, source: object, inside: tuple[int, ...], *, closing: bool) -> dict[str, Any]:
        """Return the plain form of one schema; `inside` are the schemas that contain it.

        Without `closing`, the object is one part of several, and others may name more fields.
        """
        if not isinstance(source, Mapping):
            # `false` accepts nothing; `true`, or a value that is not a schema, accepts anything.
            return {"not": {}} if source is False else {}
        if id(source) in inside or len(inside) > _DEEPEST or self.remaining <= 0:
            return self._kind(source)
        self.remaining -= 1 + sum(_size(value) for value in source.values())
        inside = (*inside, id(source))
        target = resolve(source.get("$ref"), self.root)
        if target is not None:
            return self._referred(source, target, inside, closing=closing)
        result = {
            key: value for key, value in source.items() if key in _KEPT and _is_sound(key, value)
        }
        _without_unsigned(result, source.get("format"))
        if source.get("not") in ({}, True):
            result["not"] = {}
        whole = closing and not any(key in source for key in _JOINING)
        self._write_object(result, source, inside, whole=whole)
        self._write_list(result, source, inside)
        self._write_parts(result, source, inside, closing=closing)
        return result

    def _kind(self, source: Schema) -> dict[str, Any]:
        names = sorted(json_types_of(source, self.root))
        if names == ["any"] or not names:
            return {}
        types = [_TYPES.get(name, name) for name in names]
        return {"type": types[0] if len(types) == 1 else types}

    def _referred(
        self, source: Schema, target: Schema, inside: tuple[int, ...], *, closing: bool
    ) -> dict[str, Any]:
        beside = {key: value for key, value in source.items() if key != "$ref"}
        said = {key: value for key, value in beside.items() if key in _SAID and key != "title"}
        if all(key in _SAID or key not in _KEPT | _STRUCTURE for key in beside):
            return {**self.written(target, inside, closing=closing), **said}
        both = {"allOf": [target, {k: v for k, v in beside.items() if k not in said}], **said}
        return self.written(both, inside, closing=closing)

    def _write_object(
        self, result: dict[str, Any], source: Schema, inside: tuple[int, ...], *, whole: bool
    ) -> None:
        properties, rest = source.get("properties"), source.get("additionalProperties")
        if isinstance(properties, Mapping):
            result["properties"] = {
                name: self.written(part, inside, closing=True) for name, part in properties.items()
            }
        patterns = source.get("patternProperties")
        if isinstance(patterns, Mapping) and patterns:
            # The tool checks which names match which pattern.
            below = [*patterns.values(), *([rest] if isinstance(rest, Mapping) else [])]
            rest = below[0] if len(below) == 1 else {"anyOf": below}
        elif "properties" in result and whole:
            rest = False
        if isinstance(rest, Mapping):
            result["additionalProperties"] = self.written(rest, inside, closing=True)
        elif isinstance(rest, bool):
            result["additionalProperties"] = rest

    def _write_list(self, result: dict[str, Any], source: Schema, inside: tuple[int, ...]) -> None:
        items, prefix = source.get("items"), source.get("prefixItems")
        if isinstance(items, (list, tuple)):
            # Drafts before 2020 spell `prefixItems` so, and the rest `additionalItems`.
            prefix, items = items, source.get("additionalItems")
        if isinstance(prefix, (list, tuple)):
            result["prefixItems"] = [self.written(part, inside, closing=True) for part in prefix]
        if isinstance(items, Mapping):
            result["items"] = self.written(items, inside, closing=True)
        elif isinstance(items, bool):
            result["items"] = items

    def _write_parts(
        self, result: dict[str, Any], source: Schema, inside: tuple[int, ...], *, closing: bool
    ) -> None:
        own = "properties" in source or any(key in source for key in ("allOf", "if", "$ref"))
        for key in ("anyOf", "oneOf"):
            branches = source.get(key)
            if "anyOf" in result or not isinstance(branches, (list, tuple)) or not branches:
                continue
            # Without patterns and formats, two branches may accept an input that one did.
            written = [self.written(b, inside, closing=closing and not own) for b in branches]
            flat = None if own or not closing else flat_union(written, _tag(source))
            if flat is not None and "properties" in flat:
                self.joined.append((flat["properties"], tuple(written)))
            result.update({**flat, **result} if flat is not None else {"anyOf": written})
        parts = source.get("allOf")
        if isinstance(parts, (list, tuple)) and parts:
            alone = closing and not any(key in source for key in ("anyOf", "oneOf", "if"))
            _join(result, [self.written(p, inside, closing=False) for p in parts], alone=alone)


_STRUCTURE = frozenset(
    "properties patternProperties additionalProperties items prefixItems additionalItems allOf "
    "anyOf oneOf not format if then else".split()
)


def _join(result: dict[str, Any], parts: list[dict[str, Any]], *, alone: bool) -> None:
    """Join the parts of an `allOf` into one object if they are objects with different fields."""
    if len(parts) == 1 and not set(result) - _SAID:
        merged = {**parts[0], **result}
    else:
        whole = _merged([{k: v for k, v in result.items() if k not in _SAID}, *parts])
        if whole is None:
            result["allOf"] = parts
            return
        merged = {**whole, **{k: v for k, v in result.items() if k in _SAID}}
    if alone and "properties" in merged and not set(merged) & {"anyOf", "allOf"}:
        merged["additionalProperties"] = False
    result.clear()
    result.update(merged)


def _merged(parts: list[dict[str, Any]]) -> dict[str, Any] | None:
    properties: dict[str, Any] = {}
    required: dict[str, None] = {}
    for part in parts:
        if set(part) - {"type", "properties", "required", "description"}:
            return None
        if part and part.get("type", "object") != "object":
            return None
        for name, schema in part.get("properties", {}).items():
            if properties.setdefault(name, schema) != schema:
                return None
        required.update(dict.fromkeys(part.get("required", ())))
    return {
        "type": "object",
        "properties": properties,
        **({"required": list(required)} if required else {}),
    }


def _tag(source: Schema) -> str | None:
    """Return the field that a schema declares to distinguish its branches."""
    discriminator = source.get("discriminator")
    name = discriminator.get("propertyName") if isinstance(discriminator, Mapping) else None
    return name if isinstance(name, str) else None


def _without_unsigned(result: dict[str, Any], form: object) -> None:
    if not isinstance(form, str) or not form.startswith("uint"):
        return
    lowest = result.get("minimum")
    if not isinstance(lowest, (int, float)) or lowest <= 0:
        result["minimum"] = 0


def _is_sound(key: str, value: object) -> bool:
    """Return whether a keyword has a value that it can have; what a server wrote may not be."""
    if key == "type" and isinstance(value, str):
        return True
    if key in ("type", "required"):
        return isinstance(value, (list, tuple)) and all(isinstance(name, str) for name in value)
    return key != "enum" or isinstance(value, (list, tuple))


def _size(value: object) -> int:
    if isinstance(value, (list, tuple, Mapping)):
        return len(value)
    return len(value) // 16 if isinstance(value, str) else 0

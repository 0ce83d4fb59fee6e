"""What a tool's JSON Schema declares of one field.

A schema comes from the tool's author. Nothing here raises for an unusual one: parts that cannot be
followed declare nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from policy.catalog.schemas.walk import (
    ANY,
    DEEPEST_WALK,
    JSON_TYPES,
    OPEN,
    Schema,
    Step,
    alternatives,
    descend,
    is_simple,
    joined_parts,
    json_type_of,
    json_types_of,
    mapping,
    parts,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldInfo:
    """What a schema declares of one field.

    `types` are its types: `string number integer boolean list object null`, or just `any`. `known`
    is whether the schema names the field. `choices` are its only values, if it lists them.
    """

    types: frozenset[str] = ANY
    required: bool = False
    known: bool = False
    choices: tuple[Any, ...] | None = None


def fields_of(schema: Schema) -> Mapping[str, FieldInfo] | None:
    """Return the declaration of each named field; None if the schema names none and accepts any."""
    names = named_fields(schema)
    if names is None:
        return None
    return {name: lookup(schema, (name,)) for name in names}


def named_fields(schema: Schema, path: tuple[Step, ...] = ()) -> tuple[str, ...] | None:
    """Return the names of the fields of the object at `path`; None if any name is accepted."""
    node = _follow(schema, path)
    if node is None:
        return ()
    names = dict.fromkeys(
        name for part in parts(node, schema) for name in mapping(part.get("properties"))
    )
    return tuple(names) if names or is_closed(node, schema, top=not path) else None


def is_closed(node: Schema, root: Schema, *, top: bool) -> bool:
    """Return whether an object schema that names no field accepts none either.

    A schema that names no field is a free map (`headers`), unless it forbids other fields. The
    input as a whole is a free map only by `additionalProperties` or `patternProperties`.
    """
    rests = [
        part["additionalProperties"] for part in parts(node, root) if "additionalProperties" in part
    ]
    if any(rest is False for rest in rests):
        return True
    free = bool(rests) or any(part.get("patternProperties") for part in parts(node, root))
    return top and not free


def lookup(schema: Schema, path: tuple[Step, ...]) -> FieldInfo:
    """Return what `schema` declares of the value at `path`, `()` being the whole input."""
    node: Schema | None = schema
    required = True
    for depth, step in enumerate(path):
        if node is None:
            return FieldInfo()
        # A string or a list has none of the fields that objects have to have.
        is_object = not depth or json_types_of(node, schema) == {"object"}
        required = required and is_object and isinstance(step, str) and requires(node, step, schema)
        node = _below(node, step, schema)
    if node is None:
        return FieldInfo()
    choices = _choices(node, schema, set(), 0)
    types = json_types_of(node, schema)
    if choices is not None:
        types = frozenset(json_type_of(choice) for choice in choices)
    return FieldInfo(
        types=ANY if types >= JSON_TYPES - {"integer"} else types,
        required=bool(path) and required,
        known=True,
        choices=choices,
    )


def requires(node: Schema, name: str, root: Schema) -> bool:
    """Return whether every object that is valid at `node` has a field of this name."""
    if is_simple(node):
        return _names_required(node, name)
    return _requires(node, name, root, {}, 0)


def _follow(schema: Schema, path: tuple[Step, ...]) -> Schema | None:
    node: Schema | None = schema
    for step in path:
        if node is None:
            return None
        node = _below(node, step, schema)
    return node


def _below(node: Schema, step: Step, root: Schema) -> Schema | None:
    """Return the schema one step below; in a free map or a list of anything, that is anything."""
    below = descend(node, step, root)
    if below is not None or not json_types_of(node, root) & {"any", "object", "list"}:
        return below
    if isinstance(step, int) or step == "*":
        return OPEN if not any(_declares_elements(part) for part in parts(node, root)) else None
    if any(mapping(part.get("patternProperties")) for part in parts(node, root)):
        return OPEN
    named = any(mapping(part.get("properties")) for part in parts(node, root))
    return None if named or is_closed(node, root, top=node is root) else OPEN


def _declares_elements(part: Schema) -> bool:
    return "items" in part or "prefixItems" in part


def _choices(node: Schema, root: Schema, seen: set[int], depth: int) -> tuple[Any, ...] | None:
    """Return the only values of a place, if the schema lists them."""
    if id(node) in seen or depth > DEEPEST_WALK:
        return None
    seen.add(id(node))
    if "const" in node:
        return (node["const"],)
    if isinstance(node.get("enum"), (list, tuple)):
        return tuple(node["enum"])
    if node.get("type") == "null":
        return (None,)
    for joined in joined_parts(node, root):
        found = _choices(joined, root, seen, depth + 1)
        if found is not None:
            return found
    for branches in alternatives(node):
        each = [_choices(branch, root, seen, depth + 1) for branch in branches]
        known = [values for values in each if values is not None]
        if len(known) == len(each):
            return tuple(value for values in known for value in values)
    return None


def _requires(node: Schema, name: str, root: Schema, memo: dict[int, bool], depth: int) -> bool:
    if id(node) in memo or depth > DEEPEST_WALK:
        return memo.get(id(node), False)
    memo[id(node)] = False
    memo[id(node)] = (
        _names_required(node, name)
        or any(_requires(part, name, root, memo, depth + 1) for part in joined_parts(node, root))
        or any(
            all(_requires(branch, name, root, memo, depth + 1) for branch in branches)
            for branches in alternatives(node)
        )
    )
    return memo[id(node)]


def _names_required(node: Schema, name: str) -> bool:
    required = node.get("required")
    return isinstance(required, (list, tuple)) and name in required

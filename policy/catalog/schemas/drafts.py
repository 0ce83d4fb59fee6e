"""`as_validated`: a schema without the keywords that validators of its draft ignore.

In drafts 4, 6 and 7 a `$ref` replaces the whole schema in which it stands: an `enum` beside it
restricts nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from policy.catalog.schemas.walk import OPEN, Schema

_OLD = re.compile(r"https?://json-schema\.org/draft-0[467]/schema#*")
# What restricts no value, or is what references lead to.
_KEPT = frozenset(
    {"$ref", "$schema", "$id", "id", "$defs", "definitions"}
    | {"default", "description", "examples", "title"}
)
# Keywords of values, in which nothing is a schema.
_VALUES = frozenset({"const", "default", "enum", "examples"})
# Keywords of schemas by names that are the tool's own.
_BY_NAME = frozenset(
    {"properties", "patternProperties", "definitions", "$defs", "dependencies", "dependentSchemas"}
)
# Calls of tools with deeper schemas are refused.
_DEEPEST = 200


def as_validated(schema: Schema) -> Schema:
    """Return a schema without what is ignored beside references; most are returned as they are.

    If any part of it is of an old draft, all of it is read as such, which accepts more.
    """
    if not _has_old_part(schema):
        return schema
    found: Schema = _cleaned(schema, 0)
    return found


def _has_old_part(schema: Schema) -> bool:
    todo: list[Any] = [schema]
    while todo:
        part = todo.pop()
        if isinstance(part, Mapping):
            draft = part.get("$schema")
            if isinstance(draft, str) and _OLD.fullmatch(draft):
                return True
            todo.extend(part.values())
        elif isinstance(part, (list, tuple)):
            todo.extend(part)
    return False


def _cleaned(part: Any, depth: int) -> Any:
    if depth > _DEEPEST:
        return OPEN
    if isinstance(part, (list, tuple)):
        return [_cleaned(item, depth + 1) for item in part]
    if not isinstance(part, Mapping):
        return part
    # A property of this name has a schema, which is no string.
    replaced = isinstance(part.get("$ref"), str)
    return {
        key: _below(key, item, depth + 1)
        for key, item in part.items()
        if not replaced or key in _KEPT
    }


def _below(key: str, item: Any, depth: int) -> Any:
    if key in _VALUES:
        return item
    if key in _BY_NAME and isinstance(item, Mapping):
        return {name: _cleaned(each, depth + 1) for name, each in item.items()}
    return _cleaned(item, depth)

"""Where two schemas of one tool differ in what a call may contain.

Both are compared as Placet reads them, in the plain form: references written out, and an object
that names its fields takes no others. Descriptions, examples, formats, patterns and the order of
anything do not count.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any

from policy.catalog.schemas.model_form import schema_strictify
from policy.catalog.schemas.walk import Schema, json_type_of
from policy.model import thaw
from policy.values import escape_for_display, quote

_MOST_DIFFERENCES = 5
_DEEPEST = 64
_NULL = {"type": "null"}
_REMARKS = frozenset({"description", "examples", "deprecated", "readOnly", "writeOnly"})
# Compared by functions of their own.
_STRUCTURE = frozenset({"type", "enum", "const", "properties", "required", "anyOf", "allOf"})
_BELOW = ("items", "additionalProperties")
_SCHEMAS = frozenset({"prefixItems", "not"})
_VALUES = frozenset({"enum", "const", "default"})
_UNORDERED = frozenset({"type", "enum", "required", "anyOf", "allOf"})


def schema_differences(listed: Schema, own: Schema) -> tuple[str, ...]:
    """Return how a listed schema differs from the tool's own, a sentence each, a few at most.

    What the list leaves open (a default, a bound) is no difference: the tool's own counts there.
    """
    found = _object(_whole(listed), _whole(own), "", 0)
    return tuple(islice(found, _MOST_DIFFERENCES))


def _whole(schema: Schema) -> dict[str, Any]:
    """Return the plain form of an input's schema; without arguments, of one that takes none."""
    plain: dict[str, Any] = thaw(schema_strictify(schema))
    if not any(key in plain for key in ("properties", "additionalProperties", "anyOf", "allOf")):
        plain |= {"properties": {}, "additionalProperties": False}
    return {"type": "object", **plain}


def _object(listed: Any, own: Any, path: str, depth: int) -> Iterator[str]:
    if not isinstance(listed, dict) or not isinstance(own, dict) or depth > _DEEPEST:
        if listed != own:
            yield f"{_shown(path)} takes other values in the list"
        return
    yield from _types(listed, own, path)
    mine, theirs = own.get("properties", {}), listed.get("properties", {})
    required, wanted = set(own.get("required", ())), set(listed.get("required", ()))
    for name in sorted({*mine, *theirs}):
        below = f"{path}.{name}" if path else name
        if name not in theirs:
            yield f"the list lacks {_shown(below)}"
            continue
        if name not in mine:
            yield f"the tool has no {_shown(below)}"
            continue
        if (name in required) is not (name in wanted):
            where = (
                "only in the list" if name in wanted else "by the tool, and optional in the list"
            )
            yield f"{_shown(below)} is required {where}"
        parts = (theirs[name], mine[name])
        if name not in required:
            parts = (_present(theirs[name]), _present(mine[name]))
        yield from _object(*parts, below, depth + 1)
    yield from _rest(listed, own, path, depth)


def _types(listed: dict[str, Any], own: dict[str, Any], path: str) -> Iterator[str]:
    mine, theirs = _own_types(own), _own_types(listed)
    if mine != theirs:
        types = f"{_either(theirs)} in the list, {_either(mine)} in the tool"
        yield f"the type of {_shown(path)} is {types}"
    elif _values(listed) != _values(own) or _branches(listed) != _branches(own):
        yield f"{_shown(path)} takes other values in the list"


def _rest(listed: dict[str, Any], own: dict[str, Any], path: str, depth: int) -> Iterator[str]:
    """Yield the differences besides names and types; the list may declare less in both."""
    for key in _BELOW:
        theirs, mine = listed.get(key, True), own.get(key, True)
        if theirs is not mine:
            theirs, mine = ({} if part is True else part for part in (theirs, mine))
            yield from _object(theirs, mine, f"{path}.*" if path else "*", depth + 1)
    for key in sorted(listed.keys() - _REMARKS - _STRUCTURE - set(_BELOW)):
        theirs = _without_remarks(listed[key]) if key in _SCHEMAS else listed[key]
        mine = _without_remarks(own.get(key)) if key in _SCHEMAS else own.get(key)
        if _comparable(theirs) != _comparable(mine):
            shown = escape_for_display(json.dumps(theirs, default=str), 60)
            yield f"{_shown(path)} has `{key}` {shown} in the list, which the tool has not"


def _own_types(schema: dict[str, Any]) -> frozenset[str]:
    """Return the types that a schema allows by itself; without any, those of its values."""
    given = schema.get("type")
    if isinstance(given, str):
        return frozenset({given})
    if isinstance(given, list):
        return frozenset(map(str, given))
    values = _listed_values(schema)
    return frozenset() if values is None else frozenset(map(json_type_of, values))


def _listed_values(schema: dict[str, Any]) -> list[Any] | None:
    if "const" in schema:
        return [schema["const"]]
    found = schema.get("enum")
    return found if isinstance(found, list) else None


def _values(schema: dict[str, Any]) -> frozenset[str] | None:
    found = _listed_values(schema)
    return None if found is None else frozenset(map(_comparable, found))


def _branches(schema: dict[str, Any]) -> frozenset[str]:
    """Return the alternatives and parts of a schema, without remarks and order."""
    return frozenset(
        key + _comparable(_without_remarks(branch))
        for key in ("anyOf", "allOf")
        for branch in schema.get(key, ())
    )


def _without_remarks(value: Any) -> Any:
    """Return a schema, or several, without texts for people, in a canonical order."""
    if isinstance(value, list):
        return [_without_remarks(item) for item in value]
    if not isinstance(value, dict):
        return value
    found = {key: item for key, item in value.items() if key not in _REMARKS}
    for key, item in found.items():
        if key == "properties" and isinstance(item, dict):
            found[key] = {name: _without_remarks(part) for name, part in item.items()}
        elif key not in _VALUES:
            found[key] = _without_remarks(item)
        if key in _UNORDERED and isinstance(item, list):
            found[key] = sorted(found[key], key=_comparable)
    return found


def _present(schema: Any) -> Any:
    """Return the schema of an optional field where it is present: null counts as absent."""
    if not isinstance(schema, dict):
        return schema
    rest = dict(schema)
    if rest.get("default", ...) is None:
        del rest["default"]
    types = rest.get("type")
    if isinstance(types, list) and "null" in types:
        kept = [kind for kind in types if kind != "null"]
        rest["type"] = kept[0] if len(kept) == 1 else kept
    branches = rest.get("anyOf")
    kept = [branch for branch in branches or () if _without_remarks(branch) != _NULL]
    if branches and len(kept) < len(branches):
        del rest["anyOf"]
        return {**rest, **kept[0]} if len(kept) == 1 else {**rest, "anyOf": kept}
    return rest


def _comparable(value: Any) -> str:
    """Return JSON text that equal values share, whatever the order of keys; `1` is `1.0`."""
    whole = value.is_integer() if isinstance(value, float) else False
    found = int(value) if whole else value
    return json.dumps(found, default=str, sort_keys=True)


def _shown(path: str) -> str:
    return quote(path) if path else "the input"


def _either(types: frozenset[str]) -> str:
    return " or ".join(sorted(types)) or "any value"

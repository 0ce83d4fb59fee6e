"""Repairs an input that does not match its schema, where it can mean only one thing.

Only the type is repaired, and only where the schema leaves one interpretation: a string where a
number, boolean, object or list is required, one value where a list of such values is required, and
null where a field is optional.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from policy.admission.schema_node import SchemaNode, is_only
from policy.catalog import json_type_of
from policy.model import thaw
from policy.values import JsonLimits, Unreadable, escape_for_display, read_json

Path = tuple[str | int, ...]

_LARGEST_EXACT = 2**53
# Read without the parser: a list may hold thousands.
_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]{0,14})")
_MOST_NOTES = 100
_TRUTH = {"true": True, "True": True, "false": False, "False": False}


def repair(value: Any, node: SchemaNode, *, limits: JsonLimits) -> tuple[Any, tuple[str, ...]]:
    """Return the repaired input, and a note for each repair."""
    notes: list[str] = []
    mended = _repair(value, node, (), notes=notes, limits=limits)
    return mended, tuple(notes)


def model_changes(before: dict[str, Any], after: dict[str, Any]) -> tuple[str, ...]:
    """Return a note for each field that a tool's own model converts."""
    notes = [f"{shown_path((name,))}: left out" for name in before if name not in after]
    for name, value in after.items():
        if name in before and not _are_same(before[name], value):
            notes.append(f"{shown_path((name,))}: read as the tool reads it")
    return tuple(notes)


def _note(notes: list[str], path: Path, what: str) -> None:
    if len(notes) < _MOST_NOTES:
        notes.append(f"{shown_path(path)}: {what}")
    elif len(notes) == _MOST_NOTES:
        notes.append("further values were repaired")


def shown_path(path: Path) -> str:
    """Return the path of a field as people read it: `` `items[0].name` ``."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return f"`{escape_for_display(text, 60)}`" if path else "the input"


def _repair(
    value: Any, node: SchemaNode, path: Path, *, notes: list[str], limits: JsonLimits
) -> Any:
    if not _fits(value, node):
        value = _reshape(value, node, path, notes=notes, limits=limits)
        if not _fits(value, node):
            return value  # no value of this type is accepted, whatever is in it
    if isinstance(value, (float, Decimal)) and is_only(node, "integer") and _is_exact(value):
        _note(notes, path, "read as a whole number")
        return int(value)
    if isinstance(value, dict):
        return _fields(value, node, path, notes=notes, limits=limits)
    if isinstance(value, list):
        return [
            _repair(item, node.element(i), (*path, i), notes=notes, limits=limits)
            for i, item in enumerate(value)
        ]
    return value


def _fields(
    value: dict[str, Any], node: SchemaNode, path: Path, *, notes: list[str], limits: JsonLimits
) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for name, item in value.items():
        below = node.field(name)
        if below is None:
            result[name] = item
        elif item is None and not _fits(None, below) and not node.requires(name):
            _note(notes, (*path, name), "null treated as absent")
        else:
            result[name] = _repair(item, below, (*path, name), notes=notes, limits=limits)
    return result


def _reshape(
    value: Any, node: SchemaNode, path: Path, *, notes: list[str], limits: JsonLimits
) -> Any:
    if isinstance(value, str):
        read = _read(value, node, limits)
        if read is not None:
            _note(notes, path, f"string read as {_word(read)}")
            return read
    if _is_single(value, node):
        _note(notes, path, "one value treated as a list of one")
        return [value]
    return value


def _read(text: str, node: SchemaNode, limits: JsonLimits) -> Any:
    """Return the value that a string means if only one other type is possible, else None."""
    if is_only(node, "boolean"):
        return _TRUTH.get(text)
    if not is_only(node, "integer", "number") and not is_only(node, "object", "list"):
        return None
    if _INTEGER.fullmatch(text) and is_only(node, "integer", "number"):
        return int(text)
    read = read_json(text, limits=limits)
    if isinstance(read, Unreadable):
        return None
    value = thaw(read)
    if value is None or isinstance(value, (bool, str)) or not _fits(value, node):
        return None
    return value


def _is_single(value: Any, node: SchemaNode) -> bool:
    if value is None or isinstance(value, (dict, list)) or not is_only(node, "list"):
        return False
    if isinstance(value, str) and value.lstrip().startswith("["):
        return False
    element = node.element(0)
    return is_only(element, "string", "integer", "number", "boolean") and _fits(value, element)


def _fits(value: Any, node: SchemaNode) -> bool:
    types = node.types
    kind = json_type_of(value)
    if kind in types or "any" in types:
        return True
    if kind == "integer":
        return "number" in types
    return kind == "number" and "integer" in types and is_whole(value)


def is_whole(value: float | Decimal) -> bool:
    """Return whether a number has no fraction, like 1.0."""
    return value.is_integer() if isinstance(value, float) else value == value.to_integral_value()


def _is_exact(value: float | Decimal) -> bool:
    """Return whether a number is whole, and small enough to be represented exactly."""
    return -_LARGEST_EXACT <= value <= _LARGEST_EXACT and is_whole(value)


def _word(value: Any) -> str:
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, list):
        return "a list"
    return "a boolean" if isinstance(value, bool) else "a number"


def _are_same(one: Any, other: Any) -> bool:
    """Return whether two JSON values are equal and of the same type: `1` is not `true`."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(
            _are_same(item, other[key]) for key, item in one.items()
        )
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_are_same, one, other))
    return type(one) is type(other) and bool(one == other)

"""Whether calls of a tool always get the defaults of its schema.

An input is filled only if the schema accepts it then. So one default that is rejected, by itself or
beside other fields, leaves out all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policy.catalog.schemas.walk import Schema
from policy.model import thaw

_AROUND = ("$defs", "$schema", "definitions")
# Keywords of an object whose fields do not depend on each other.
_PLAIN = frozenset({"additionalProperties", "properties", "required", "type", *_AROUND})
_SAID = frozenset({"$comment", "$id", "description", "examples", "title"})


def has_defaults(schema: Any) -> bool:
    """Return whether a schema may have a default anywhere: whether it has such a key."""
    todo = [schema]
    while todo:
        part = todo.pop()
        if isinstance(part, Mapping):
            if "default" in part:
                return True
            todo.extend(part.values())
        elif isinstance(part, (list, tuple)):
            todo.extend(part)
    return False


def are_defaults_filled(schema: Schema) -> bool:
    """Return whether it is certain that a missing field gets its default in every call.

    It is only where defaults stand in the fields of the input themselves.
    """
    plain = thaw(schema)
    if set(plain) - _PLAIN - _SAID:
        return False
    around = {key: plain[key] for key in _AROUND if key in plain}
    fields = plain.get("properties", {})
    if has_defaults(around) or not isinstance(fields, dict):
        return False
    return all(_fits(field, around) for field in fields.values())


def _fits(field: Any, around: dict[str, Any]) -> bool:
    if not isinstance(field, dict):
        return True
    rest = {key: value for key, value in field.items() if key != "default"}
    if has_defaults(rest):
        return False
    if field.get("default") is None:
        return True
    # A schema without defaults is never compiled for this.
    from jsonschema_rs import validator_for

    try:
        return validator_for({**around, "allOf": [rest]}, offline=True).is_valid(field["default"])
    except Exception:  # noqa: BLE001 — whatever a stranger's schema makes it raise
        return False

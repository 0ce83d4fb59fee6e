"""Writes a tool as an entry of a list of tools, which `read_listing` reads."""

from __future__ import annotations

from typing import Any

from policy.catalog.listed_resources import ListedResources, write_resources
from policy.catalog.tool import ToolSpec
from policy.model import thaw

_HINTS = {
    "readOnlyHint": "read_only",
    "destructiveHint": "destructive",
    "idempotentHint": "idempotent",
}


def listing_entry(spec: ToolSpec) -> dict[str, Any]:
    """Return a tool of the host application or of a server as plain JSON.

    What reads its input is not part of it: a list holds no code. Raises ValueError for a tool of an
    extension, which no list can contain.
    """
    origin = spec.origin
    if origin.kind == "ext":
        raise ValueError(f"`{spec.name}` is a tool of an extension, which no list can contain")
    found: dict[str, Any] = {
        "name": origin.tool,
        "server": origin.server or None,
        "version": spec.version,
        "description": spec.description or None,
        "inputSchema": thaw(spec.schema),
        "outputSchema": thaw(spec.output) or None,
        "category": spec.category,
        "annotations": _hints(spec) or None,
        "resources": _resources(spec) or None,
        "requires_confirmation": spec.requires_confirmation or None,
        "exec_class": spec.exec_class or None,
    }
    return {key: value for key, value in found.items() if value is not None}


def _hints(spec: ToolSpec) -> dict[str, bool]:
    facts = {hint: getattr(spec, name) for hint, name in _HINTS.items()}
    return {hint: fact for hint, fact in facts.items() if fact is not None}


def _resources(spec: ToolSpec) -> dict[str, Any]:
    return write_resources(
        ListedResources(resources=spec.resources, complete=spec.complete, unseen=spec.unseen)
    )

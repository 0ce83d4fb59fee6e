"""A tool's definition for policies, from what its author declares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policy.catalog import Origin, ToolSpec, read_only_schema, schema_problem
from policy.tools.authoring.traits import Traits

_NO_ARGUMENTS: Mapping[str, Any] = {"type": "object", "properties": {}}


def spec_of(
    name: object, description: object, *, schema: Mapping[str, Any], traits: Traits
) -> ToolSpec:
    """Return the definition of a host tool; TypeError tells the author what to change."""
    if not isinstance(name, str) or not name:
        raise TypeError("the name of a tool must be a string")
    if not isinstance(description, str):
        raise TypeError(f"the description of `{name}` is not a string")
    broken = schema_problem(schema)
    return ToolSpec(
        name=name,
        origin=Origin(kind="host", tool=name),
        description=description,
        schema=read_only_schema(_NO_ARGUMENTS if broken else {"type": "object", **schema}),
        fault=broken,
        resources=traits.resources,
        complete=traits.complete,
        unseen=traits.unseen,
        requires_confirmation=traits.requires_confirmation,
        exec_class=traits.exec_class,
        category=traits.category,
        read_only=traits.read_only,
        destructive=traits.destructive,
        idempotent=traits.idempotent,
        version=traits.version,
        pinned=True,
    )

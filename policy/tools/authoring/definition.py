"""A tool's definition for models, from its definition for policies."""

from __future__ import annotations

from collections.abc import Sequence

import orjson

from policy.catalog import ToolSpec, read_only_schema, schema_strictify, strict_schema
from policy.tools.authoring.output import OutputShape
from policy.tools.authoring.traits import Example
from policy.tools.service import ToolDefinition, source_of


def define(
    spec: ToolSpec,
    *,
    strict: bool = False,
    examples: Sequence[Example] = (),
    usage_rule: str | None = None,
    output: OutputShape | None = None,
) -> ToolDefinition:
    """Return a tool's definition for models; examples are inputs to imitate.

    Models see the tool's schema in its model form.
    """
    shown = [orjson.dumps(dict(example)).decode() for example in examples]
    plain = schema_strictify(spec.schema)
    return ToolDefinition(
        name=spec.name,
        description=spec.description,
        parameters=read_only_schema(strict_schema(plain) if strict else plain),
        category=spec.category,
        requires_confirmation=spec.requires_confirmation,
        strict=strict,
        llm_context="Examples:\n" + "\n".join(shown) if shown else None,
        output=None if output is None else output.schema,
        usage_rule=usage_rule,
        version=spec.version,
        source=source_of(spec),
    )

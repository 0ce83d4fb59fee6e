"""`list_tools` and `get_tool_schema`: what this caller may use."""

from __future__ import annotations

from typing import Any

from policy.model import Execution, thaw
from policy.tools.handler import ExecutionContext
from policy.tools.service import ToolDefinition, ToolService


async def list_tools(input: dict[str, Any], ctx: ExecutionContext) -> list[dict[str, Any]]:
    """Return name, description and category of each tool, of one category if one is given."""
    category = input.get("category")
    return [
        _summary(definition)
        for definition in _service(ctx, "list_tools").list()
        if category is None or definition.category == category
    ]


async def get_tool_schema(input: dict[str, Any], ctx: ExecutionContext) -> dict[str, Any]:
    """Return one tool with its schema; a hidden tool is as unknown as one that is not there."""
    name = input["tool_name"]
    definition = _service(ctx, "get_tool_schema").describe(name)
    if definition is None:
        raise Execution("get_tool_schema", "there is no tool of this name")
    return {**_summary(definition), "parameters": thaw(definition.parameters)}


def _summary(definition: ToolDefinition) -> dict[str, Any]:
    return {
        "name": definition.name,
        "description": definition.description,
        "category": definition.category,
        "may_ask": definition.may_ask,
    }


def _service(ctx: ExecutionContext, name: str) -> ToolService:
    if ctx.tools is None:
        raise Execution(name, "this tool works only in a service")
    return ctx.tools

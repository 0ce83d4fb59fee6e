"""`NativeHandler`: a coroutine function of this process as a tool."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

from policy.catalog import ToolSpec
from policy.tools.authoring.definition import define
from policy.tools.handler import ExecutionContext
from policy.tools.service import ToolDefinition

Run: TypeAlias = Callable[[dict[str, Any], ExecutionContext], Awaitable[Any]]


class NativeHandler:
    """Runs a coroutine function directly on the judged input."""

    defined_at = "Placet itself"
    # What a model may read of a failure, a built-in tool raises as an `Execution`.
    error_text = False

    def __init__(self, spec: ToolSpec, run: Run) -> None:
        self._spec = spec
        self._definition = define(spec)
        self._run = run

    @property
    def spec(self) -> ToolSpec:
        """The tool's definition for policies."""
        return self._spec

    @property
    def definition(self) -> ToolDefinition:
        """The tool's definition for models."""
        return self._definition

    async def invoke(self, input: dict[str, Any], ctx: ExecutionContext) -> Any:
        """Run the tool."""
        return await self._run(input, ctx)

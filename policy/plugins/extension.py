"""The handler of a plugin's tool, under the name `ext__plugin__tool`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from policy.capabilities import ToolCapability
from policy.catalog import Origin, ToolSpec
from policy.tools import ExecutionContext, ToolDefinition, ToolHandler


class ExtensionHandler:
    """Runs a tool of a plugin under its origin, and passes it the plugin's granted capabilities.

    `granted` is empty until the plugin is registered, and replaced as a whole when grants change.
    """

    def __init__(self, plugin: str, declared: ToolCapability, inner: ToolHandler) -> None:
        origin = Origin(kind="ext", server=plugin, tool=declared.name)
        description = declared.description or inner.spec.description
        self._spec = replace(
            inner.spec, name=origin.flat_name(), origin=origin, description=description
        )
        self._definition = replace(
            inner.definition,
            name=self._spec.name,
            description=declared.description or inner.definition.description,
            source="extension",
        )
        self._inner = inner
        self.defined_at = f"the plugin {plugin}"
        self.granted: frozenset[str] = frozenset()

    @property
    def spec(self) -> ToolSpec:
        """The tool's definition for policies."""
        return self._spec

    @property
    def definition(self) -> ToolDefinition:
        """The tool's definition for models."""
        return self._definition

    @property
    def sandbox(self) -> object:
        """The sandbox that its code runs in, if the handler of the tool knows of one."""
        return getattr(self._inner, "sandbox", None)

    async def invoke(self, input: dict[str, Any], ctx: ExecutionContext) -> Any:
        """Run the tool; its context has the capabilities that the plugin may use."""
        return await self._inner.invoke(input, replace(ctx, capabilities=self.granted))

"""A tool of a plugin that Placet runs, from its manifest and the code of the plugin."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from policy.capabilities import PluginRefused, ToolCapability
from policy.catalog import Origin, ToolSpec, output_schema_problem, read_only_schema
from policy.generation import SecretUnreadable, read_values
from policy.model import Execution, SandboxTier, Transport
from policy.plugins.runtime import PluginCode, PluginFailed, PluginUnreachable
from policy.sandbox import SandboxDenied
from policy.tools import ExecutionContext, ToolDefinition, Traits, define, spec_of, without_secrets


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginTool:
    """Runs one tool in the code of its plugin."""

    plugin: str
    name: str
    spec: ToolSpec
    definition: ToolDefinition
    code: PluginCode = field(compare=False, repr=False)

    async def invoke(self, input: dict[str, Any], ctx: ExecutionContext) -> Any:
        """Run the tool and return its result."""
        try:
            return await self.code.call(self.name, input, ctx)
        except PluginFailed as error:
            uncertain, said = isinstance(error, PluginUnreachable), self._shown(str(error))
            if error.denial is not None:
                raise SandboxDenied(said, error.denial, uncertain=uncertain) from error
            if uncertain:
                raise Transport(self.full_name, f"the plugin `{self.plugin}`: {said}") from error
            raise Execution(self.full_name, f"{self.full_name} failed: {said}") from error

    def _shown(self, said: str) -> str:
        """Return what a plugin says without the secrets that it got."""
        try:
            return without_secrets(said, read_values(self.code.env))
        except SecretUnreadable:
            return without_secrets(said, {})

    @property
    def sandbox(self) -> SandboxTier:
        """The sandbox that its code runs in."""
        return self.code.tier

    @property
    def full_name(self) -> str:
        """The name that agents call."""
        return Origin(kind="ext", server=self.plugin, tool=self.name).flat_name()


def plugin_tool(plugin: str, declared: ToolCapability, code: PluginCode) -> PluginTool:
    """Return the handler of a declared tool; raise PluginRefused for schemas that cannot be used.

    Nothing is known of what it touches: a policy may declare that, as for an MCP server's tool.
    """
    spec = spec_of_declared(declared)
    return PluginTool(
        plugin=plugin, name=declared.name, spec=spec, definition=define(spec), code=code
    )


def spec_of_declared(declared: ToolCapability) -> ToolSpec:
    """Return what a manifest says of a tool; raise PluginRefused for an unusable schema."""
    schema = declared.input_schema or {}
    spec = spec_of(declared.name, declared.description, schema=schema, traits=Traits())
    if spec.fault is not None:
        raise PluginRefused(f"the tool `{declared.name}`: {spec.fault}")
    if declared.output_schema is None:
        return spec
    problem = output_schema_problem(declared.output_schema)
    if problem is not None:
        raise PluginRefused(f"the tool `{declared.name}`: what it returns: {problem}")
    return replace(spec, output=read_only_schema(declared.output_schema))

"""A tool that says its own JSON Schema in; the handler that runs it out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from policy.admission import RawCall, Refused, admit
from policy.call import thaw
from policy.catalog import Catalog, ToolSpec
from policy.errors import ValidationFailed
from policy.service.authoring.calling import returned, run, with_context
from policy.service.authoring.definition import define
from policy.service.authoring.output import OutputShape
from policy.service.authoring.traits import Traits
from policy.service.handler import ExecutionContext
from policy.service.service import ToolDefinition


class SchemaHandler:
    """Runs a tool on the judged input itself: that it fits the schema was seen to before."""

    def __init__(
        self,
        *,
        spec: ToolSpec,
        call: Callable[..., Any],
        traits: Traits,
        output: OutputShape | None = None,
    ) -> None:
        self._spec = spec
        self._call = call
        self._given = with_context(call)
        self._output = output
        self._definition = define(
            spec,
            strict=traits.strict_schema,
            examples=traits.examples,
            usage_rule=traits.usage_rule,
            output=output,
        )

    @property
    def spec(self) -> ToolSpec:
        """The tool's definition for policies."""
        return self._spec

    @property
    def definition(self) -> ToolDefinition:
        """The tool's definition for models."""
        return self._definition

    @property
    def name(self) -> str:
        """The name agents call it by."""
        return self._spec.name

    @property
    def description(self) -> str:
        """What models are told of it."""
        return self._spec.description

    def parameters_schema(self) -> Mapping[str, Any]:
        """Return the JSON Schema of what the tool takes, as models see it."""
        return self._definition.parameters

    def usage_rule(self) -> str | None:
        """Return the line for the prompt of whoever has the tool."""
        return self._definition.usage_rule

    async def invoke(self, input: dict[str, Any], ctx: ExecutionContext) -> Any:
        """Call the tool and return what it returns, as a JSON value."""
        result = await run(self._call, *self._given(input, ctx))
        return returned(self._spec.name, result, self._output)

    async def call_json(self, args: Mapping[str, Any], ctx: ExecutionContext | None = None) -> Any:
        """Run the tool on a JSON object and return JSON; nothing judges this call.

        Raises ValidationFailed for an input that does not fit.
        """
        read = admit(RawCall(tool=self.name, input=dict(args)), Catalog(specs=(self._spec,)))
        if isinstance(read, Refused):
            raise ValidationFailed(self.name, read.message)
        return await self.invoke(thaw(read.call.input), ctx or ExecutionContext())

    async def execute_dynamic(self, params: Mapping[str, Any]) -> Any:
        """Run the tool on a JSON object, like `call_json`."""
        return await self.call_json(params)

"""The handler of a tool with an argument model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from policy.catalog import ModelArguments, Operations, ToolSpec
from policy.model import ValidationFailed
from policy.tools.authoring.any_input import AsGiven
from policy.tools.authoring.calling import returned, run, with_context
from policy.tools.authoring.definition import define
from policy.tools.authoring.output import OutputShape
from policy.tools.authoring.spec import spec_of
from policy.tools.authoring.traits import Example, Traits
from policy.tools.handler import ExecutionContext
from policy.tools.service import ToolDefinition

Call: TypeAlias = Callable[..., Any]
Takes: TypeAlias = ModelArguments | Operations | AsGiven


class BuiltinHandler:
    """Runs a tool of this process: makes its arguments from the judged input and calls it.

    It is a `DynamicTool` too: any tool can be used with JSON.
    """

    def __init__(
        self,
        *,
        spec: ToolSpec,
        takes: Takes,
        call: Call | Mapping[str, Call],
        traits: Traits,
        output: OutputShape | None = None,
        defined_at: str = "",
    ) -> None:
        self._spec = spec if output is None else replace(spec, output=output.schema)
        # Where its author wrote it, as `module:name`.
        self.defined_at = defined_at
        self._takes = takes
        self._output = output
        self.error_text = traits.error_text
        # By operation, if each has a function of its own.
        calls = call if isinstance(call, Mapping) else {"": call}
        self._calls = {name: (each, with_context(each)) for name, each in calls.items()}
        _require_examples(spec.name, takes, traits.examples)
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
        """Its description for models."""
        return self._spec.description

    def parameters_schema(self) -> Mapping[str, Any]:
        """Return the JSON Schema of the tool's input, as models see it."""
        return self._definition.parameters

    def usage_rule(self) -> str | None:
        """Return the line for the prompt of models that have the tool."""
        return self._definition.usage_rule

    async def invoke(self, input: dict[str, Any], ctx: ExecutionContext) -> Any:
        """Call the tool and return its result as a JSON value."""
        arguments = self._takes.read(input)
        call, given = self._calls[self._operation(arguments)]
        result = await run(call, *given(arguments, ctx))
        return returned(self._spec.name, result, self._output)

    async def call_json(self, args: Mapping[str, Any], ctx: ExecutionContext | None = None) -> Any:
        """Run the tool on a JSON object and return JSON; the call is not judged.

        Raises ValidationFailed for an invalid input.
        """
        try:
            input = self._takes.coerce(dict(args))
        except ValueError as error:
            raise ValidationFailed(self._spec.name, str(error)) from None
        return await self.invoke(input, ctx or ExecutionContext())

    async def execute_dynamic(self, params: Mapping[str, Any]) -> Any:
        """Run the tool on a JSON object, like `call_json`."""
        return await self.call_json(params)

    def _operation(self, arguments: object) -> str:
        if not isinstance(self._takes, Operations) or "" in self._calls:
            return ""
        return str(getattr(arguments, self._takes.tag))


def handler(
    call: Call | Mapping[str, Call],
    takes: ModelArguments | Operations,
    *,
    name: object,
    description: object,
    traits: Traits,
    output: OutputShape | None,
    defined_at: str,
) -> BuiltinHandler:
    """Return the handler of a host tool; TypeError tells the author what to change."""
    spec = spec_of(name, description, schema=takes.schema, traits=traits)
    resources = (*takes.resources(), *spec.resources)
    return BuiltinHandler(
        spec=replace(
            spec,
            resources=resources,
            coerce=takes.coerce,
            operations=takes.branches if isinstance(takes, Operations) else (),
        ),
        takes=takes,
        call=call,
        traits=traits,
        output=output,
        defined_at=defined_at,
    )


def _require_examples(name: str, takes: Takes, examples: Sequence[Example]) -> None:
    """Reject examples that are not valid inputs: a model would imitate them."""
    for number, example in enumerate(examples, start=1):
        try:
            takes.read(dict(example))
        except ValueError as error:
            raise TypeError(f"example {number} of `{name}` is not a valid input: {error}") from None

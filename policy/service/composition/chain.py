"""A tool that calls other tools one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pydantic import BaseModel

from policy.catalog import ModelArguments, ToolSpec
from policy.model import Execution, ToolError
from policy.service.composition.references import (
    Argument,
    Making,
    Progress,
    Reference,
    Step,
    made,
    references,
)
from policy.service.in_flight import enclosing_call
from policy.tools import (
    ExecutionContext,
    ToolDefinition,
    ToolOutput,
    ToolOutputMetadata,
    ToolService,
    Traits,
    as_json,
    define,
    spec_of,
)

LONGEST_CHAIN = 32
# The number of steps that one call may lead to, chains within chains included.
MOST_STEPS = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainHandler:
    """Runs a chain. Each step is a call by the same caller through the whole service.

    Every step is judged, approved, limited and recorded like any other call. The chain has no
    effect besides: it may do what its steps may do.
    """

    spec: ToolSpec
    definition: ToolDefinition
    steps: tuple[Step, ...]
    output: Making | Reference | None = None

    async def invoke(self, input: dict[str, Any], ctx: ExecutionContext) -> ToolOutput:
        """Make the calls in order; the first that fails ends the chain, and the error names it."""
        if ctx.tools is None:
            raise Execution(self.spec.name, "a chain of tools works only in a service")
        progress, tokens = Progress(arguments=input), 0
        value: Any = None
        for number, step in enumerate(self.steps, start=1):
            place = f"step {number} of {len(self.steps)}, `{step.called}`"
            self._count(place)
            output = await self._called(ctx.tools, step, progress, place)
            value, tokens = output.value, tokens + (output.metadata.tokens_used or 0)
            progress = replace(progress, results={**progress.results, step.called: value})
        if self.output is not None:
            value = self._shaped(self._made(self.output, progress, "the output"))
        return ToolOutput(value=value, metadata=ToolOutputMetadata(tokens_used=tokens or None))

    async def _called(
        self, tools: ToolService, step: Step, progress: Progress, place: str
    ) -> ToolOutput:
        input = self._made(step.input, progress, place)
        try:
            output = await tools.execute(step.tool, input)
        except ToolError as error:
            raise Execution(self.spec.name, f"{place}: {error.message}") from error
        if output.is_error:
            raise Execution(self.spec.name, f"{place}: the tool reported that it failed")
        return output

    def _made(self, making: Making | Reference, progress: Progress, place: str) -> Any:
        try:
            return making(progress) if callable(making) else made(making, progress)
        except Exception as error:
            why = str(error) if isinstance(error, ValueError) and not callable(making) else "failed"
            raise Execution(self.spec.name, f"{place} could not be made: {why}") from error

    def _shaped(self, value: Any) -> Any:
        try:
            return as_json(value)
        except (TypeError, ValueError, RecursionError):
            raise Execution(self.spec.name, "the output is not a JSON value") from None

    def _count(self, place: str) -> None:
        """Refuse a step beyond the limit for this chain and all others of the same call."""
        call = enclosing_call()
        if call is None:
            return
        call.family.steps += 1
        if call.family.steps > MOST_STEPS:
            raise Execution(self.spec.name, f"{place}: one call led to over {MOST_STEPS} steps")


def chain(
    name: str,
    description: str,
    *,
    steps: Iterable[Step],
    args: type[BaseModel],
    output: Making | Reference | None = None,
    traits: Traits | None = None,
) -> ChainHandler:
    """Return a tool that makes the calls in `steps`, with arguments of the model `args`.

    Its output is that of the last step, or what `output` makes of the results. Raises TypeError
    for an invalid chain: without steps or with too many, two with the same name, or a reference
    to an argument or step that does not exist at that point.
    """
    taken, kept = ModelArguments(args), tuple(steps)
    said = replace(traits or Traits(), complete=True)
    spec = spec_of(name, description, schema=taken.schema, traits=said)
    _require_sound(spec.name, kept, output, known=_properties(spec))
    spec = replace(spec, resources=(*taken.resources(), *spec.resources), coerce=taken.coerce)
    definition = define(
        spec, strict=said.strict_schema, examples=said.examples, usage_rule=said.usage_rule
    )
    return ChainHandler(spec=spec, definition=definition, steps=kept, output=output)


def _properties(spec: ToolSpec) -> Mapping[str, Any]:
    found = spec.schema.get("properties")
    return found if isinstance(found, Mapping) else {}


def _require_sound(
    name: str,
    steps: tuple[Step, ...],
    output: Making | Reference | None,
    *,
    known: Mapping[str, Any],
) -> None:
    if not 1 <= len(steps) <= LONGEST_CHAIN:
        raise TypeError(f"the chain `{name}` needs 1 to {LONGEST_CHAIN} steps")
    before: set[str] = set()
    for step in steps:
        _require_known(name, step.input, known=known, before=before)
        if step.called in before:
            raise TypeError(f"two steps of the chain `{name}` are called `{step.called}`")
        before.add(step.called)
    _require_known(name, output, known=known, before=before)


def _require_known(name: str, making: Any, *, known: Mapping[str, Any], before: set[str]) -> None:
    """Refuse references to arguments that the chain does not have, or to later steps."""
    for reference in references(making):
        if isinstance(reference, Argument):
            if reference.name not in known:
                raise TypeError(f"the chain `{name}` has no argument `{reference.name}`")
        elif reference.step not in before:
            raise TypeError(f"no earlier step of chain `{name}` is called `{reference.step}`")

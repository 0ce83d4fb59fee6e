"""The tools that a caller can see: those denied for every input are hidden.

Hidden tools are still denied; hiding only keeps models from trying them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from policy.admission import RawCall, Refused, admit
from policy.catalog import (
    Catalog,
    FewerOperations,
    OperationTag,
    ToolSpec,
    operations_in,
    read_only_schema,
    strict_schema,
)
from policy.decision import Visibility, lines_for, visibility_of
from policy.generation import Generation
from policy.model import EMPTY, Caller, Facts
from policy.service.judging.classification import Confirm, Deny
from policy.service.judging.guards import Guards
from policy.service.judging.identity import denials
from policy.service.judging.judge import Judge, NoPolicy
from policy.service.judging.tool_filter import ToolFilter
from policy.tools import ToolDefinition

# Returns a tool's visibility, by its full name, for inputs with certain fields.
Expected: TypeAlias = Callable[[str, Mapping[str, Any]], Visibility]
# Returns the above for a caller; reads the policy in force once for a whole list.
OutlookOf: TypeAlias = Callable[[Caller], Expected]
# Returns the visibility of one call: of a tool, by its full name, with exactly this input.
Foreseen: TypeAlias = Callable[[str, Mapping[str, Any], Caller], Visibility]
# Returns the lines of the policy in force for a caller.
LinesOf: TypeAlias = Callable[[Caller], tuple[str, ...]]
# Returns a registered tool's definition for policies, by its full name.
SpecOf: TypeAlias = Callable[[str], ToolSpec | None]


class VisibleTools:
    """Which tools each caller sees."""

    def __init__(
        self,
        outlook_of: OutlookOf,
        *,
        lines_of: LinesOf = lambda caller: (),
        spec_of: SpecOf = lambda name: None,
        foreseen: Foreseen = lambda name, input, caller: Visibility.HIDDEN,
    ) -> None:
        self._outlook_of = outlook_of
        self._lines_of = lines_of
        self._spec_of = spec_of
        self.foreseen = foreseen

    def expected(self, name: str, fields: Mapping[str, Any], caller: Caller) -> Visibility:
        """Return a tool's visibility for inputs that have these values there."""
        return self._outlook_of(caller)(name, fields)

    def shown(self, definitions: Iterable[ToolDefinition], caller: Caller) -> list[ToolDefinition]:
        """Return the definitions that `caller` may use, those that may ask marked so."""
        expected_of = self._outlook_of(caller)
        shown = []
        for definition in definitions:
            expected = expected_of(definition.full_name, EMPTY)
            if expected is not Visibility.HIDDEN:
                asks = expected is Visibility.ASKS or definition.requires_confirmation
                seen = self._without_hidden(definition, expected_of)
                shown.append(replace(seen, may_ask=asks))
        return shown

    def _without_hidden(self, definition: ToolDefinition, expected_of: Expected) -> ToolDefinition:
        """Return a tool without the operations that are denied for every other input."""
        name, tag = definition.full_name, operations_in(definition.parameters)
        kept = () if tag is None else _kept(tag, name, expected_of)
        if tag is None or len(kept) in (0, len(tag.values)):
            return definition
        spec = self._spec_of(name)
        fewer = FewerOperations(tag=tag, kept=kept)
        return _with_fewer(
            definition, fewer if spec is None else FewerOperations.of(spec, tag, kept)
        )

    def lines(self, caller: Caller) -> tuple[str, ...]:
        """Return the lines of the policy in force for a model that acts for `caller`."""
        return self._lines_of(caller)


def rule_lines_for(judge: Judge | None, caller: Caller, facts: Facts) -> tuple[str, ...]:
    """Return the lines of a policy for `caller`; none without a policy."""
    if not isinstance(judge, Generation):
        return ()
    return lines_for(judge.program, caller, facts)


def hiding(expected: Expected, is_hidden: Callable[[str], bool]) -> Expected:
    """Return the visibility with some tools, by their full name, always hidden."""
    return lambda name, fields: Visibility.HIDDEN if is_hidden(name) else expected(name, fields)


def visibility_of_tools(
    judge: Judge | None, guards: Guards, caller: Caller, facts: Facts
) -> Expected:
    """Return the visibility of each tool for `caller` with these facts.

    Of filters, only a ToolFilter is considered: others, and context rules, depend on inputs.
    """
    if judge is None or (isinstance(judge, NoPolicy) and guards.smart_filter is None):
        return lambda name, fields: Visibility.HIDDEN
    smart_filter = guards.smart_filter
    if isinstance(judge, Generation):
        program = judge.program

        def expected(name: str, fields: Mapping[str, Any]) -> Visibility:
            return visibility_of(program, name, caller, facts, fields=fields)

    else:

        def expected(name: str, fields: Mapping[str, Any]) -> Visibility:
            spec = judge.spec(name) if isinstance(judge, NoPolicy) else None
            return Visibility.HIDDEN if _barred(caller, name, spec, facts) else Visibility.OPEN

    if not isinstance(smart_filter, ToolFilter):
        return expected
    return lambda name, fields: _filtered(expected(name, fields), smart_filter, name)


def _filtered(visibility: Visibility, smart_filter: ToolFilter, name: str) -> Visibility:
    """Return the stricter of a visibility and of the filter's answer, which no input changes."""
    match smart_filter.classify(name, EMPTY):
        case Deny():
            return Visibility.HIDDEN
        case Confirm() if visibility is Visibility.OPEN:
            return Visibility.ASKS
        case _:
            return visibility


def _with_fewer(definition: ToolDefinition, fewer: FewerOperations) -> ToolDefinition:
    """Return a definition for models with fewer operations."""
    schema = fewer.schema(definition.parameters)
    context, output, rule = definition.llm_context, definition.output, definition.usage_rule
    return replace(
        definition,
        description=fewer.described(definition.description),
        parameters=read_only_schema(strict_schema(schema) if definition.strict else schema),
        llm_context=None if context is None else fewer.examples(context),
        output=None if output is None else read_only_schema(fewer.output(output)),
        usage_rule=None if rule is None else fewer.text(rule) or None,
    )


def _kept(tag: OperationTag, name: str, expected_of: Expected) -> tuple[str, ...]:
    values = tag.values
    return tuple(v for v in values if expected_of(name, {tag.name: v}) is not Visibility.HIDDEN)


def said_of_input(said: str, input: Any, spec: ToolSpec, expected_of: Expected) -> str:
    """Return a message about a refused input of a tool, without operations that are not visible.

    A caller that does not see all operations is told what is wrong with the input of a tool that
    has no others.
    """
    tag = operations_in(spec.schema)
    kept = () if tag is None else _kept(tag, spec.name, expected_of)
    if tag is None or len(kept) == len(tag.values):
        return said
    fewer = FewerOperations.of(spec, tag, kept)
    seen = replace(spec, schema=fewer.schema(spec.schema), coerce=None, operations=())
    refused = admit(RawCall(tool=spec.name, input=input), Catalog(specs=(seen,)))
    return refused.message if isinstance(refused, Refused) else said


def _barred(caller: Caller, name: str, spec: ToolSpec | None, facts: Facts) -> bool:
    return any(True for _ in denials(caller, spec or name, facts.now))

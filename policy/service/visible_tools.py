"""The tools that a caller can see: those denied for every input are hidden.

Hidden tools are still denied; hiding only keeps models from trying them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from policy.catalog import ToolSpec, read_only_schema
from policy.decision import OperationTag, Visibility, lines_for, operations_in, visibility_of
from policy.generation import Generation
from policy.model import EMPTY, Caller, Facts
from policy.service.judging.guards import Guards
from policy.service.judging.identity import denials
from policy.service.judging.judge import Judge, NoPolicy
from policy.tools import ToolDefinition
from policy.values import quote

# Returns a tool's visibility, by its full name, for inputs with certain fields.
Expected: TypeAlias = Callable[[str, Mapping[str, Any]], Visibility]
# Returns the above for a caller; reads the policy in force once for a whole list.
OutlookOf: TypeAlias = Callable[[Caller], Expected]
# Returns the lines of the policy in force for a caller.
LinesOf: TypeAlias = Callable[[Caller], tuple[str, ...]]


# As many as a sentence of the schema's own names.
_MOST_OPERATIONS = 8


class VisibleTools:
    """Which tools each caller sees."""

    def __init__(self, outlook_of: OutlookOf, *, lines_of: LinesOf = lambda caller: ()) -> None:
        self._outlook_of = outlook_of
        self._lines_of = lines_of

    def shown(self, definitions: Iterable[ToolDefinition], caller: Caller) -> list[ToolDefinition]:
        """Return the definitions that `caller` may use, those that may ask marked so."""
        expected_of = self._outlook_of(caller)
        shown = []
        for definition in definitions:
            expected = expected_of(definition.full_name, EMPTY)
            if expected is not Visibility.HIDDEN:
                asks = expected is Visibility.ASKS or definition.requires_confirmation
                parameters = _without_hidden(definition, expected_of)
                shown.append(replace(definition, may_ask=asks, parameters=parameters))
        return shown

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

    Filters and context rules depend on inputs, so they are not considered here.
    """
    if judge is None or (isinstance(judge, NoPolicy) and guards.smart_filter is None):
        return lambda name, fields: Visibility.HIDDEN
    if isinstance(judge, Generation):
        program = judge.program
        return lambda name, fields: visibility_of(program, name, caller, facts, fields=fields)

    def expected(name: str, fields: Mapping[str, Any]) -> Visibility:
        spec = judge.spec(name) if isinstance(judge, NoPolicy) else None
        return Visibility.HIDDEN if _barred(caller, name, spec, facts) else Visibility.OPEN

    return expected


def _without_hidden(definition: ToolDefinition, expected_of: Expected) -> Mapping[str, Any]:
    """Return a tool's schema without the operations that are denied for every other input."""
    schema = definition.parameters
    tag = operations_in(schema)
    kept = () if tag is None else _kept(tag, definition.full_name, expected_of)
    if tag is None or len(kept) in (0, len(tag.values)):
        return schema
    properties = dict(schema["properties"])
    properties[tag.name] = {**properties[tag.name], "enum": list(kept)}
    return read_only_schema({**schema, "properties": properties})


def _kept(tag: OperationTag, name: str, expected_of: Expected) -> tuple[str, ...]:
    values = tag.values
    return tuple(v for v in values if expected_of(name, {tag.name: v}) is not Visibility.HIDDEN)


def without_hidden_operations(said: str, tool: str, judge: Judge, expected_of: Expected) -> str:
    """Return a message about a tool's input without operations that are not visible."""
    spec = judge.program.catalog.get(tool) if isinstance(judge, Generation) else None
    tag = None if spec is None else operations_in(spec.schema)
    if spec is None or tag is None:
        return said
    kept = _kept(tag, spec.name, expected_of)
    hidden = [quote(value) for value in tag.values if value not in kept]
    of_tag = f"`{tag.name}` must be one of " in said
    if not any(f"{tag.name} {name}" in said or (of_tag and name in said) for name in hidden):
        return said
    return f"`{tag.name}` must be one of {', '.join(map(quote, kept[:_MOST_OPERATIONS]))}"


def _barred(caller: Caller, name: str, spec: ToolSpec | None, facts: Facts) -> bool:
    return any(True for _ in denials(caller, spec or name, facts.now))

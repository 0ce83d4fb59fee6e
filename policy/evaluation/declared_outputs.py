"""Results of tools, read by the output schema that the tool declares.

A result that is text although JSON is declared is parsed. One that does not have the declared shape
is indeterminate: rules were checked with that shape.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from policy.catalog import SchemaView, has_shape
from policy.checks import checked
from policy.evaluation.truth import Indeterminate, Value, unknown_history
from policy.model import CalledTool, PastCall
from policy.values import Unreadable, read_json

# Returns the result of an earlier call; indeterminate where it is not known.
ReadResult: TypeAlias = Callable[[PastCall], Value]


def read_output(result: Value, schema: SchemaView, *, tool: str) -> Value:
    """Return a result as the tool declares it, indeterminate where it is not like that."""
    types = schema.lookup(()).types
    if isinstance(result, str) and types.isdisjoint(("string", "any")):
        read = read_json(result)
        if isinstance(read, Unreadable):
            return unknown_history(f"`{tool}` returned text that is not the JSON that it declares")
        result = read
    if not has_shape(result, schema):
        return unknown_history(f"what `{tool}` returned does not fit the output that it declares")
    return result


def result_reader(outputs: tuple[checked.DeclaredOutput, ...]) -> ReadResult:
    """Return what reads the results of earlier calls, by what their tools declare."""
    if not outputs:
        return _known_result
    by_name: dict[str, list[checked.DeclaredOutput]] = {}
    for output in outputs:
        by_name.setdefault(output.tool, []).append(output)

    def read(call: PastCall) -> Value:
        result = _known_result(call)
        for output in by_name.get(call.tool, ()):
            if _is_of(output, call.called) and not isinstance(result, Indeterminate):
                return read_output(result, output.schema, tool=call.tool)
        return result

    return read


def _is_of(output: checked.DeclaredOutput, tool: CalledTool) -> bool:
    """Return whether a tool may be the one with this output: of some only the name is known."""
    origin = output.origin
    return tool.kind is None or (tool.kind, tool.server) == (origin.kind, origin.server)


def _known_result(call: PastCall) -> Value:
    if call.result is None:
        return unknown_history(f"the result of a call of `{call.tool}` is not known")
    return call.result

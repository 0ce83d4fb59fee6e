"""Makes a handler of a tool in any of the supported shapes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from policy.admission import input_fault
from policy.catalog import ModelArguments, Operations, ToolSpec, arguments_of, snake_case
from policy.tools.authoring.any_input import AsGiven
from policy.tools.authoring.calling import require_takes
from policy.tools.authoring.function import tool
from policy.tools.authoring.output import OutputShape, output_shape, returned_shape
from policy.tools.authoring.shapes import AiTool, ContextTool, DynamicTool, OperationsTool, Tool
from policy.tools.authoring.spec import spec_of
from policy.tools.authoring.traits import said_by, traits_of
from policy.tools.authoring.typed import BuiltinHandler, handler
from policy.tools.handler import ToolHandler, location_of_class

Authored: TypeAlias = (
    ToolHandler | Tool | OperationsTool | AiTool | ContextTool | DynamicTool | Callable[..., Any]
)

_SHAPES = (
    "a tool is a function, or an object with NAME, DESCRIPTION, Args and call; with Input, name, "
    "description and execute; with name, description, schema and execute; with name, description, "
    "parameters_schema and execute_dynamic; or with spec, definition and invoke"
)


def handler_for(authored: Any) -> ToolHandler:
    """Return the handler of a tool in any shape; TypeError tells the author what to change."""
    if isinstance(authored, type):
        raise TypeError(f"`{authored.__name__}` is a class: pass an object of it")
    if isinstance(getattr(authored, "spec", None), ToolSpec) and hasattr(authored, "invoke"):
        return _sound(authored)
    if hasattr(authored, "NAME") or hasattr(authored, "Args"):
        return handler_of(authored)
    if hasattr(authored, "Input"):
        return _of_ai_tool(authored)
    if hasattr(authored, "execute_dynamic"):
        return _of_dynamic(authored)
    if hasattr(authored, "schema") and hasattr(authored, "execute"):
        return _of_context_tool(authored)
    if inspect.isfunction(authored) or inspect.ismethod(authored):
        return tool(authored)
    raise TypeError(f"an object of type `{type(authored).__name__}` is not a tool: {_SHAPES}")


def handler_of(authored: Tool | OperationsTool) -> BuiltinHandler:
    """Return the handler of a tool written as a class."""
    takes = _takes(authored, "Args")
    call = getattr(authored, "call", None)
    calls = _by_operation(authored, takes) if call is None else {"": call}
    return handler(
        calls,
        takes,
        name=getattr(authored, "NAME", None),
        description=_described(authored, getattr(authored, "DESCRIPTION", None)),
        traits=traits_of(authored),
        output=_output(authored, tuple(calls.values())),
        defined_at=location_of_class(type(authored)),
    )


def dynamic_of(authored: Any) -> DynamicTool:
    """Return a tool of any shape as one described by its JSON Schema alone."""
    if isinstance(authored, DynamicTool) and not isinstance(authored, type):
        return authored
    made = handler_for(authored)
    if isinstance(made, DynamicTool):
        return made
    raise TypeError(f"`{made.spec.name}` runs only in a service")


async def call_json(authored: Any, args: Mapping[str, Any]) -> Any:
    """Run a tool of any shape on a JSON object and return JSON; the call is not judged."""
    return await dynamic_of(authored).execute_dynamic(args)


def _of_ai_tool(authored: Any) -> BuiltinHandler:
    takes, execute = _takes(authored, "Input"), _function(authored, "execute")
    return handler(
        execute,
        takes,
        name=said_by(authored, "name"),
        description=_described(authored, said_by(authored, "description")),
        traits=traits_of(authored),
        output=_output(authored, (execute,)),
        defined_at=location_of_class(type(authored)),
    )


def _of_dynamic(authored: Any) -> BuiltinHandler:
    call = _function(authored, "execute_dynamic")
    return _untyped(authored, call, schema="parameters_schema", output=_output(authored, ()))


def _of_context_tool(authored: Any) -> BuiltinHandler:
    call = _function(authored, "execute")
    return _untyped(authored, call, schema="schema", output=_output(authored, (call,)))


def _untyped(
    authored: Any, call: Callable[..., Any], *, schema: str, output: OutputShape | None
) -> BuiltinHandler:
    traits = traits_of(authored)
    spec = spec_of(
        said_by(authored, "name"),
        _described(authored, said_by(authored, "description")),
        schema=_schema(authored, schema),
        traits=traits,
    )
    fault = input_fault(spec)
    if fault is not None:
        raise TypeError(f"`{type(authored).__name__}.{schema}` cannot be used: {fault}")
    return BuiltinHandler(
        spec=spec,
        takes=AsGiven(spec),
        call=call,
        traits=traits,
        output=output,
        defined_at=location_of_class(type(authored)),
    )


def _sound(made: Any) -> ToolHandler:
    if not hasattr(made, "definition") or not callable(made.invoke):
        raise TypeError(f"the handler of `{made.spec.name}` needs `definition` and `invoke`")
    if not inspect.iscoroutinefunction(made.invoke):
        raise TypeError(f"`{type(made).__qualname__}.invoke` must be async")
    require_takes(made.invoke, 2, "(input, ctx)")
    return made  # type: ignore[no-any-return]


def _takes(authored: object, attribute: str) -> ModelArguments | Operations:
    try:
        return arguments_of(getattr(authored, attribute, None))
    except TypeError as error:
        raise TypeError(f"`{type(authored).__name__}.{attribute}`: {error}") from None


def _by_operation(
    authored: object, takes: ModelArguments | Operations
) -> Mapping[str, Callable[..., Any]]:
    """Return the method of each operation: `read` of an operation `read`."""
    if not isinstance(takes, Operations):
        raise TypeError(f"`{type(authored).__name__}` has no method `call`")
    return {value: _function(authored, snake_case(value)) for value in takes.models}


def _function(authored: object, name: str) -> Callable[..., Any]:
    found = getattr(authored, name, None)
    if not callable(found):
        raise TypeError(f"`{type(authored).__name__}` has no method `{name}`")
    return found  # type: ignore[no-any-return]


def _schema(authored: object, name: str) -> Mapping[str, Any]:
    schema = said_by(authored, name)
    if not isinstance(schema, Mapping):
        raise TypeError(f"`{type(authored).__name__}.{name}` is not a JSON Schema")
    return schema


def _described(authored: object, said: object) -> object:
    """Return the description, which defaults to the class's docstring."""
    if said is not None:
        return said
    return inspect.cleandoc(type(authored).__doc__ or "")


def _output(authored: object, calls: tuple[Callable[..., Any], ...]) -> OutputShape | None:
    """Return the shape of a tool's result: its `Output`, or what all its functions declare."""
    declared = getattr(authored, "Output", None)
    if declared is not None:
        return output_shape(declared)
    names = {**vars(type(authored)), type(authored).__name__: type(authored)}
    return returned_shape(*calls, names=names)

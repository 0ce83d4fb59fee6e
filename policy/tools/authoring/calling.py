"""Calls an author's function: plain ones in a thread, coroutines on the loop."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from policy.model import Execution
from policy.runtime import Threads
from policy.tools.authoring.output import OutputShape, as_json
from policy.tools.handler import ExecutionContext
from policy.tools.service import ToolOutput

# How many blocking tools may run or wait at once; half of them for one caller.
_MOST = 32
_PATIENCE = 10.0  # seconds that a call waits for one of them to end
_TOOLS = Threads("tools that block", most=_MOST, patience=_PATIENCE, fair=True, begins=True)


async def run(call: Callable[..., Any], *given: Any) -> Any:
    """Call a plain function in a separate thread, a coroutine function on the loop."""
    if inspect.iscoroutinefunction(call):
        return await call(*given)
    # A blocking function must not stop the loop: other calls, time limits and approvals go on.
    result = await _TOOLS.run(call, *given)
    return await result if inspect.isawaitable(result) else result


def takes_context(call: Callable[..., Any]) -> bool:
    """Return whether a function has a parameter for a context after its arguments."""
    parameters = inspect.signature(call).parameters.values()
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return len(positional) > 1 or any(p.kind == p.VAR_POSITIONAL for p in parameters)


def with_context(call: Callable[..., Any]) -> Callable[[Any, ExecutionContext], tuple[Any, ...]]:
    """Return a function that makes the parameters of `call`: arguments, and the context if used.

    Raises TypeError if it can be called with neither.
    """
    require_result(call)
    if takes_context(call):
        require_takes(call, 2, "(args, ctx)")
        return lambda arguments, ctx: (arguments, ctx)
    require_takes(call, 1, "(args) or (args, ctx)")
    return lambda arguments, ctx: (arguments,)


def require_result(call: Callable[..., Any]) -> None:
    """Raise TypeError if an author's function yields values, which are no result of a tool."""
    if inspect.isgeneratorfunction(call) or inspect.isasyncgenfunction(call):
        name = getattr(call, "__qualname__", type(call).__qualname__)
        raise TypeError(f"`{name}` yields: a tool returns one result")


def require_takes(call: Callable[..., Any], count: int, said: str) -> None:
    """Raise TypeError if an author's function cannot be called with so many arguments."""
    try:
        inspect.signature(call).bind(*range(count))
    except TypeError as error:
        name = getattr(call, "__qualname__", type(call).__qualname__)
        raise TypeError(f"`{name}` must take {said}: {error}") from None


def returned(tool: str, value: Any, shape: OutputShape | None) -> Any:
    """Return a tool's result as JSON, checked against its declared shape if it has one.

    Raises Execution for one that contains itself, or is nested too deeply.
    """
    try:
        if shape is not None:
            return shape.shaped(tool, value)
        return value if isinstance(value, ToolOutput) else as_json(value)
    except RecursionError:
        why = f"{tool} has run, but what it returned contains itself or is nested too deeply"
        raise Execution(tool, why) from None

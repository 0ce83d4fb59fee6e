"""The innermost service: looks a tool up in a snapshot of the registry and invokes its handler."""

from __future__ import annotations

import asyncio
import builtins
from typing import Any

from policy.call import freeze, thaw
from policy.errors import Execution, NotFound, PermissionDenied, ToolError
from policy.service.handler import ExecutionContext, ToolHandler
from policy.service.in_flight import InFlight, carrying, current_call
from policy.service.registry import ToolRegistry
from policy.service.service import ToolDefinition, ToolOutput, ToolOutputMetadata, ToolSource


class CoreDispatch:
    """Runs what it is told to, except that a judged call runs only as it was judged."""

    def __init__(self, registry: ToolRegistry) -> None:
        self._registry = registry

    async def execute(self, name: str, input: Any) -> ToolOutput:
        """Invoke the handler of `name`; raise NotFound, or Execution if it failed.

        The snapshot is let go before the handler is awaited: registering and unregistering never
        wait for a running call, and a running call keeps the handler it began with.
        """
        call = current_call()
        _require_judged(call, name, input)
        # A judged input is frozen already; any other belongs to whoever passed it.
        given = input if call is not None and call.permitted else freeze(input)
        handler = self._registry.get(name)
        if handler is None:
            raise NotFound(name, f"no tool is called `{name}` here")
        context = _context(call)
        # A tool that calls tools begins new calls; this one is not theirs to speak for.
        with carrying(None):
            value = await _invoke(handler, name, thaw(given), context)
        return _output(value, handler)

    def list(self) -> builtins.list[ToolDefinition]:
        """Return the definitions of all registered tools, by name."""
        entries = self._registry.snapshot()
        return [entries[name].handler.definition for name in sorted(entries)]

    def describe(self, name: str) -> ToolDefinition | None:
        """Return a registered tool's definition."""
        handler = self._registry.get(name)
        return None if handler is None else handler.definition


def _require_judged(call: InFlight | None, name: str, input: Any) -> None:
    """Refuse anything else than the very call that was let through.

    By identity: equal values can differ in what equality overlooks (`1` and `True`).
    """
    if call is None or call.judgement is None:
        return
    judged = call.judgement.decision.call
    if not call.permitted or name != judged.tool or input is not judged.input:
        raise PermissionDenied(
            name,
            "the call that reached the tool is not the one that was judged",
            decision=call.judgement.decision,
        )


def _context(call: InFlight | None) -> ExecutionContext:
    if call is None:
        return ExecutionContext()
    base, judgement = call.context or _NOWHERE, call.judgement
    return ExecutionContext(
        call_id=call.id,
        caller=call.caller,
        workspace=base.workspace,
        env=base.env,
        facts=base.facts if judgement is None else judgement.facts,
        decision=call.decision,
        tools=base.tools,
    )


_NOWHERE = ExecutionContext()


async def _invoke(
    handler: ToolHandler, name: str, input: dict[str, Any], context: ExecutionContext
) -> Any:
    try:
        return await handler.invoke(input, context)
    except ToolError as error:
        if error.kind in _OF_HANDLERS and error.tool == name:
            raise
        # What another tool said to this one is no statement about this call.
        raise Execution(name, f"{name} failed: {error.message}") from error
    except asyncio.CancelledError:
        raise
    except Exception as error:
        raise Execution(name, f"{name} failed: {type(error).__name__}") from error


_OF_HANDLERS = frozenset({"execution", "transport", "timeout", "validation-failed"})

_SOURCES: dict[str, ToolSource] = {"host": "builtin", "mcp": "mcp", "ext": "extension"}


def source_of(handler: ToolHandler) -> ToolSource:
    """Return which kind of handler a tool has."""
    return _SOURCES[handler.spec.origin.kind]


def _output(value: Any, handler: ToolHandler) -> ToolOutput:
    if isinstance(value, ToolOutput):
        return value
    return ToolOutput(
        value=value,
        metadata=ToolOutputMetadata(source=source_of(handler), tool=handler.spec.name),
    )

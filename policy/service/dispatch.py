"""The innermost service: looks a tool up in a snapshot of the registry and invokes its handler."""

from __future__ import annotations

import asyncio
import builtins
from dataclasses import replace
from typing import Any

from policy.call import freeze, thaw
from policy.diagnostics import visible
from policy.errors import Execution, NotFound, PermissionDenied, ToolError
from policy.service.adjudicator import Judgement
from policy.service.handler import ExecutionContext, ToolHandler
from policy.service.in_flight import InFlight, current_call, running
from policy.service.registry import ToolRegistry
from policy.service.service import ToolDefinition, ToolOutput, ToolOutputMetadata, source_of


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
        handler = self._handler(call, name)
        if handler is None:
            raise NotFound(name, f"no tool is called `{visible(str(name), 60)}` here")
        context = _context(call)
        # A tool that calls tools begins new calls; this one is not theirs to speak for.
        with running(call):
            value = await _invoke(handler, name, thaw(given), context)
        return _output(value, handler)

    def _handler(self, call: InFlight | None, name: str) -> ToolHandler | None:
        """Return what runs a tool: for a judged call, only the very tool it was judged as.

        Raises PermissionDenied where that has another definition by now: nobody let it through.
        """
        if call is None or call.judgement is None:
            return self._registry.get(name)
        entry, judged = self._registry.snapshot().get(name), call.judgement.entry
        if entry is None:
            return None
        if judged is not None and judged is not entry and judged.handler.spec != entry.handler.spec:
            raise _not_as_judged(name, call.judgement, "the tool has changed since")
        return entry.handler

    def list(self) -> builtins.list[ToolDefinition]:
        """Return the definitions of all registered tools, by name: the newest of versions."""
        called = self._registry.snapshot().called()
        return [shown_as(name, entry.handler) for name, entry in called.items()]

    def describe(self, name: str) -> ToolDefinition | None:
        """Return a registered tool's definition, of the version that the name asks for."""
        handler = self._registry.get(name)
        return None if handler is None else shown_as(name, handler)


def shown_as(name: str, handler: ToolHandler) -> ToolDefinition:
    """Return a tool's definition under one of the names it answers to."""
    definition, version = handler.definition, handler.spec.version
    if version is None:
        return definition
    return replace(definition, name=name, version=version)


def _require_judged(call: InFlight | None, name: str, input: Any) -> None:
    """Refuse anything else than the very call that was let through.

    By identity: equal values can differ in what equality overlooks (`1` and `True`).
    """
    if call is None or call.judgement is None:
        return
    judged = call.judgement.decision.call
    if not call.permitted or name != judged.tool or input is not judged.input:
        why = "the call that reached the tool is not the one that was judged"
        raise _not_as_judged(name, call.judgement, why)


def _not_as_judged(name: str, judgement: Judgement, why: str) -> PermissionDenied:
    return PermissionDenied(name, why, decision=judgement.decision, code="changed-meanwhile")


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
        usage=call.usage,
        capabilities=base.capabilities,
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


def _output(value: Any, handler: ToolHandler) -> ToolOutput:
    """Return what a handler gave as an output; where it came from is not the handler's to say."""
    source, tool = source_of(handler.spec), handler.spec.name
    if isinstance(value, ToolOutput):
        return replace(value, metadata=replace(value.metadata, source=source, tool=tool))
    return ToolOutput(value=value, metadata=ToolOutputMetadata(source=source, tool=tool))

"""The innermost service: looks a tool up in a snapshot of the registry and invokes its handler."""

from __future__ import annotations

import builtins
import os
from dataclasses import replace
from typing import Any

from policy.catalog import SANDBOX_CONNECT, SERVER_REQUESTS, ToolSpec
from policy.diagnostics import visible
from policy.model import SENTENCES, NotFound, PermissionDenied, freeze, thaw
from policy.runtime import TurnRefused
from policy.sandbox import SandboxDenied
from policy.service.in_flight import HERE, InFlight, current_call
from policy.service.judging.adjudicator import Judgement
from policy.tools import (
    ExecutionContext,
    NotAsListed,
    Registration,
    ToolDefinition,
    ToolHandler,
    ToolOutput,
    ToolOutputMetadata,
    ToolRegistry,
    confined_by,
    failure,
    quotes_errors,
    source_of,
)

# Tools come and go, so the number of cached definitions is bounded.
_MOST_ORIGINS = 4_096


class CoreDispatch:
    """Runs any call, except that a judged call runs only as it was judged."""

    def __init__(self, registry: ToolRegistry) -> None:
        self._registry = registry
        # The metadata of outputs by tool, with the definition it was made from.
        self._origins: dict[str, tuple[ToolSpec, ToolOutputMetadata]] = {}

    async def execute(self, name: str, input: Any) -> ToolOutput:
        """Invoke the handler of `name`; raise NotFound, or Execution if it failed.

        The snapshot is released before the handler is awaited: registering and unregistering never
        wait for a running call, and a running call keeps the handler it started with.
        """
        call = current_call()
        judgement = None if call is None else call.judgement
        if call is None or judgement is None:
            # The input of a call that was not judged belongs to its caller.
            given, handler = freeze(input), self._registry.get(name)
        else:
            _require_judged(call, judgement, name, input)
            given, handler = input, self._handler(judgement, name)
        if handler is None:
            raise NotFound(name, f"no tool is called `{visible(str(name), 60)}` here")
        context = ExecutionContext() if call is None else _context(call)
        if call is not None:
            tier = confined_by(handler)
            call.sandbox = None if tier is None else tier.name
            call.begins()
        # A tool that calls tools starts new calls, which are not part of this one.
        token = HERE.set(None if call is None else (call,))
        try:
            value = await handler.invoke(thaw(given), context)
        except TurnRefused as refused:
            if call is not None:
                call.has_begun = False
            raise refused.error from None
        except Exception as error:
            if call is not None and isinstance(error, SandboxDenied):
                call.denial = error.denial
            if isinstance(error, NotAsListed) and _is_of_server(handler.spec):
                raise _not_reviewed(name, judgement) from error
            made = failure(error, name, quoted=quotes_errors(handler), environment=os.environ)
            raise made from error.__cause__ or error
        finally:
            HERE.reset(token)
        output = self._output(value, handler)
        if call is not None:
            call.denial = output.denial
        return output

    def _output(self, value: Any, handler: ToolHandler) -> ToolOutput:
        """Return the result of a handler as an output; its source is set here, not by the tool."""
        spec = handler.spec
        known = self._origins.get(spec.name)
        if known is None or known[0] is not spec:
            if len(self._origins) >= _MOST_ORIGINS:
                self._origins.clear()
            known = (spec, ToolOutputMetadata(source=source_of(spec), tool=spec.name))
            self._origins[spec.name] = known
        origin = known[1]
        if isinstance(value, ToolOutput):
            own = replace(value.metadata, source=origin.source, tool=origin.tool)
            return replace(value, metadata=own)
        return ToolOutput(value=value, metadata=origin)

    def _handler(self, judgement: Judgement, name: str) -> ToolHandler | None:
        """Return the handler of a judged call: only of the tool that it was judged as.

        Raises PermissionDenied if the tool now has another definition, which was not judged.
        """
        entry: Registration | None = self._registry.snapshot().get(name)
        judged = judgement.entry
        if entry is None:
            return None
        if judged is not entry and judged is not None and judged.handler.spec != entry.handler.spec:
            raise _not_as_judged(name, judgement, "the tool has changed since")
        return entry.handler

    def list(self) -> builtins.list[ToolDefinition]:
        """Return the definitions of all registered tools, by name: the newest of versions."""
        called = self._registry.snapshot().called()
        return [shown_as(name, entry.handler) for name, entry in called.items() if _is_shown(name)]

    def describe(self, name: str) -> ToolDefinition | None:
        """Return a registered tool's definition, of the version that the name asks for."""
        handler = self._registry.get(name)
        return None if handler is None or not _is_shown(name) else shown_as(name, handler)


def _is_shown(name: str) -> bool:
    """Return whether a tool is one that somebody may call."""
    return name != SANDBOX_CONNECT


def shown_as(name: str, handler: ToolHandler) -> ToolDefinition:
    """Return a tool's definition under one of the names it answers to."""
    definition, version = handler.definition, handler.spec.version
    if version is None:
        return definition
    return replace(definition, name=name, version=version)


def _require_judged(call: InFlight, judgement: Judgement, name: str, input: Any) -> None:
    """Refuse any call but exactly the one that was permitted.

    By identity: equal values can differ in what equality ignores (`1` and `True`).
    """
    judged = judgement.decision.call
    if judgement.decision.redactions and call.redactions is None:
        decision, why = judgement.decision, SENTENCES["cannot-redact"]
        raise PermissionDenied(name, why, decision=decision, code="cannot-redact")
    if not call.permitted or name != judged.tool or input is not judged.input:
        why = "the call that reached the tool is not the one that was judged"
        raise _not_as_judged(name, judgement, why)


def _is_of_server(spec: ToolSpec) -> bool:
    """Return whether an MCP server answers the calls of a tool."""
    return spec.origin.kind == "mcp" or spec.name in SERVER_REQUESTS


def _not_reviewed(name: str, judgement: Judgement | None) -> PermissionDenied:
    """Return the denial of a call that a server would have run by another definition."""
    decision = None if judgement is None else judgement.decision
    return PermissionDenied(name, SENTENCES["not-reviewed"], decision=decision, code="not-reviewed")


def _not_as_judged(name: str, judgement: Judgement, why: str) -> PermissionDenied:
    return PermissionDenied(name, why, decision=judgement.decision, code="changed-meanwhile")


def _context(call: InFlight) -> ExecutionContext:
    base, judgement = call.context or _NOWHERE, call.judgement
    return ExecutionContext(
        call_id=call.id,
        caller=call.caller,
        workspace=base.workspace,
        env=base.env,
        facts=base.facts if judgement is None else judgement.facts,
        decision=None if judgement is None else judgement.decision,
        tools=base.tools,
        usage=call.usage,
        capabilities=base.capabilities,
        client=base.client,
        time=call.time,
        launcher=base.launcher,
    )


_NOWHERE = ExecutionContext()

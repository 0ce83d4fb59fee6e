"""What the façade's operations besides tool calls share: they are judged and recorded like calls.

These are elevations, edits of the configuration, and freezes. No tool leads to one of them: the
host application calls them.
"""

from __future__ import annotations

import builtins
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from policy.decision import Decision, GenerationId
from policy.model import Caller, Facts, NotFound, PermissionDenied, Reason, ToolCall
from policy.service.in_flight import ArrivedCall, InFlight, carrying, current_call, enclosing_call
from policy.service.judging.adjudicator import Judgement
from policy.service.judging.guards import GuardCell
from policy.tools import ToolDefinition, ToolOutput, ToolService

# Wraps a service in the audit layer.
Recorded: TypeAlias = Callable[[ToolService], ToolService]


class FacadeOperation:
    """A tool service without tools, for the audit layer to wrap: `run` performs the operation."""

    def __init__(self, run: Callable[[str, Any], Awaitable[ToolOutput]]) -> None:
        self._run = run

    async def execute(self, name: str, input: Any) -> ToolOutput:
        """Perform the operation."""
        return await self._run(name, input)

    def list(self) -> builtins.list[ToolDefinition]:
        """Return no tools."""
        return []

    def describe(self, name: str) -> ToolDefinition | None:
        """Return no tool."""
        return None


@dataclass(slots=True, kw_only=True)
class _Request:
    """What to do, and whether a running call requests it."""

    do: Callable[[InFlight], Awaitable[Any]]
    inside: bool


class OwnerOperations:
    """Operations that only an owner at the root may request, outside of any call; on record.

    `allowed` and `refused` are the reasons of their records. `recorded` wraps a service in the
    audit layer.
    """

    def __init__(
        self, guards: GuardCell, *, allowed: Reason, refused: Reason, recorded: Recorded
    ) -> None:
        self._guards = guards
        self._allows, self._refuses = allowed, refused
        self._recorded = recorded(FacadeOperation(self._execute))

    async def run(
        self, caller: Caller, name: str, input: Any, do: Callable[[InFlight], Awaitable[Any]]
    ) -> Any:
        """Return what `do` does, recorded as a call `name` with this input.

        Raises PermissionDenied, and does nothing, unless the caller may; ToolError if it cannot be
        recorded, before or after it was done.
        """
        request = _Request(do=do, inside=is_within_call())
        with carrying(InFlight(caller, ArrivedCall(tool=name, input=request))):
            output = await self._recorded.execute(name, input)
        return output.value

    def allowed(
        self, name: str, input: Any, *, generation: GenerationId | None = None
    ) -> Judgement:
        """Return the judgement of an operation that was allowed, with more in its record."""
        return judged_by(self._allows, name, input, guards=self._guards, generation=generation)

    async def _execute(self, name: str, input: Any) -> ToolOutput:
        """Do what the current call requests, if its caller may."""
        call = current_call()
        request = None if call is None or call.raw is None else call.raw.input
        if call is None or not isinstance(request, _Request):
            raise NotFound(name, f"no tool is called `{name}` here")
        may = is_owner_at_root(call.caller) and not request.inside
        reason = self._allows if may else self._refuses
        call.judgement = judged = judged_by(reason, name, input, guards=self._guards)
        if not may:
            raise PermissionDenied(name, str(reason.message), decision=judged.decision)
        return ToolOutput(value=await request.do(call))


def judged_by(
    reason: Reason,
    name: str,
    input: Any,
    *,
    guards: GuardCell,
    generation: GenerationId | None = None,
) -> Judgement:
    """Return the judgement of an operation, which one reason alone decides."""
    call = ToolCall(tool=name, input=input)
    decision = Decision(
        verdict=reason.verdict, call=call, asked=call, reasons=(reason,), generation=generation
    )
    return Judgement(decision=decision, facts=Facts(), guards=guards.current, judge=None)


def is_owner_at_root(caller: Caller) -> bool:
    """Return whether a caller is an owner whom no other agent started, and not a guest."""
    return caller.role == "owner" and caller.parent is None and caller.scope is None


def is_within_call() -> bool:
    """Return whether a tool requests the operation in the middle of its call."""
    return (current_call() or enclosing_call()) is not None

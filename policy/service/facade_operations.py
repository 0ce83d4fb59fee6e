"""What the façade's operations besides tool calls share: they are judged and recorded like calls.

These are elevations, edits of the configuration, and freezes. No tool leads to one of them: the
host application calls them.
"""

from __future__ import annotations

import builtins
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

from policy.decision import Decision, GenerationId
from policy.model import Caller, Facts, Reason, ToolCall
from policy.service.in_flight import current_call, enclosing_call
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

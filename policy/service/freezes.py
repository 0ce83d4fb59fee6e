"""Freezing tools through a service: owners only, always recorded.

No tool leads here, as none leads to the configuration.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from policy.decision import Decision
from policy.model import (
    Caller,
    Facts,
    NotFound,
    PermissionDenied,
    Reason,
    ToolCall,
    ToolError,
    Verdict,
)
from policy.service.in_flight import ArrivedCall, InFlight, carrying, current_call, enclosing_call
from policy.service.judging.adjudicator import Judgement
from policy.service.judging.guards import GuardCell
from policy.store import Freezer, Freezing
from policy.tools import ToolDefinition, ToolOutput, ToolService

# The names in records: no tool can have such a name.
FREEZE: Literal["placet:freeze"] = "placet:freeze"
UNFREEZE: Literal["placet:unfreeze"] = "placet:unfreeze"

_ALLOWED = Reason(rule="freeze", verdict=Verdict.ALLOW, message="the owner may freeze tools")
_REFUSED = Reason(
    rule="freeze", verdict=Verdict.DENY, message="only the owner may freeze and unfreeze tools"
)

Recorded: TypeAlias = Callable[[ToolService], ToolService]


@dataclass(slots=True, kw_only=True)
class _Wanted:
    """The requested action, and whether a running call requested it."""

    do: Callable[[], Freezing]
    inside: bool


class Freezes:
    """Freezes and unfreezes. `recorded` wraps a service in the audit layer."""

    def __init__(self, freezer: Freezer, guards: GuardCell, *, recorded: Recorded) -> None:
        self.freezer = freezer
        self._recorded = recorded(_Doing(guards))

    async def freeze(
        self, caller: Caller, tools: Iterable[str], *, because: str, cancel: bool
    ) -> Freezing:
        """Freeze tools; raises PermissionDenied unless the caller is an owner at the root."""
        named = tuple(tools)
        input = {"tools": list(named), "because": because, "cancel": cancel}

        def do() -> Freezing:
            by = caller.user or caller.agent
            return self.freezer.freeze(named, because=because, by=by, cancel=cancel)

        try:
            return await self._done(caller, FREEZE, input, do)
        except ToolError as error:
            # The freeze comes before its record: it takes effect even if that cannot be written.
            if error.code == "cannot-record" and _is_owner(caller) and not _is_inside():
                return do()
            if error.code == "output-withheld":
                return self.freezer.current()
            raise

    async def unfreeze(self, caller: Caller) -> Freezing:
        """Lift every freeze and return what was frozen; raises as `freeze` does.

        If it cannot be recorded, the tools stay frozen.
        """
        before = self.freezer.current()
        try:
            return await self._done(caller, UNFREEZE, {}, self.freezer.unfreeze)
        except ToolError:
            if before and not self.freezer.current():
                self.freezer.put_back(before)
            raise

    async def _done(
        self, caller: Caller, name: str, input: dict[str, Any], do: Callable[[], Freezing]
    ) -> Freezing:
        call = InFlight(caller, ArrivedCall(tool=name, input=_Wanted(do=do, inside=_is_inside())))
        with carrying(call):
            output = await self._recorded.execute(name, input)
        found: Freezing = output.value
        return found


class _Doing:
    """The service inside the audit layer: it freezes or unfreezes."""

    def __init__(self, guards: GuardCell) -> None:
        self._guards = guards

    async def execute(self, name: str, input: Any) -> ToolOutput:
        """Do what the current call requests, if its caller may."""
        call = current_call()
        wanted = None if call is None or call.raw is None else call.raw.input
        if call is None or not isinstance(wanted, _Wanted):
            raise NotFound(name, f"no tool is called `{name}` here")
        reason = _ALLOWED if _is_owner(call.caller) and not wanted.inside else _REFUSED
        call.judgement = judged = self._judged(name, input, reason)
        if reason is _REFUSED:
            raise PermissionDenied(name, str(reason.message), decision=judged.decision)
        return ToolOutput(value=wanted.do())

    def _judged(self, name: str, input: Any, reason: Reason) -> Judgement:
        call = ToolCall(tool=name, input=input)
        decision = Decision(verdict=reason.verdict, call=call, asked=call, reasons=(reason,))
        return Judgement(decision=decision, facts=Facts(), guards=self._guards.current, judge=None)

    def list(self) -> builtins.list[ToolDefinition]:
        """Return no tools: this is none."""
        return []

    def describe(self, name: str) -> ToolDefinition | None:
        """Return no tool."""
        return None


def _is_inside() -> bool:
    """Return whether a tool requests this in the middle of its call."""
    return (current_call() or enclosing_call()) is not None


def _is_owner(caller: Caller) -> bool:
    return caller.role == "owner" and caller.parent is None and caller.scope is None

"""Clearing the history of a session, which lifts its labels: by the people who may, on record."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from policy.model import Caller, PermissionDenied, Reason, Verdict
from policy.service.facade_operations import FacadeOperation, Recorded, judged_by
from policy.service.in_flight import ArrivedCall, InFlight, carrying, current_call
from policy.service.judging.guards import GuardCell
from policy.tools import ToolOutput

# The name in records: no tool can have such a name.
CLEAR: Literal["placet:clear-session"] = "placet:clear-session"
_RULE = "clear"


class SessionClearing:
    """Clears histories. `recorded` wraps a service in the audit layer; `may`: the caller may."""

    def __init__(self, *, may: bool, recorded: Recorded) -> None:
        self._may = may
        self._recorded = recorded(FacadeOperation(self._execute))
        self._clear: Callable[[], bool] | None = None

    async def clear(self, caller: Caller, input: dict[str, Any], clear: Callable[[], bool]) -> bool:
        """Record `input`, and clear; return whether there was such a session.

        Raises PermissionDenied unless the caller may, and ToolError if it cannot be recorded.
        """
        self._clear = clear
        with carrying(InFlight(caller, ArrivedCall(tool=CLEAR, input=input))):
            output = await self._recorded.execute(CLEAR, input)
        return bool(output.value)

    async def _execute(self, name: str, input: Any) -> ToolOutput:
        call = current_call()
        assert call is not None and self._clear is not None
        if self._may:
            message = "`[history] clear` names this person"
            reason = Reason(rule=_RULE, verdict=Verdict.ALLOW, message=message)
        else:
            message = "`[history] clear` in placet.toml does not name this person"
            reason = Reason(rule=_RULE, verdict=Verdict.DENY, message=message)
        call.judgement = judged = judged_by(reason, name, input, guards=GuardCell())
        if not self._may:
            raise PermissionDenied(name, message, decision=judged.decision)
        return ToolOutput(value=self._clear())

"""Acknowledging an edit that lets calls do more, through a service: owners only, always recorded.

No tool leads here: the host application calls it, on behalf of an owner at the root of all calls.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from policy.model import Caller, NotFound, PermissionDenied, Reason, ToolError, Verdict
from policy.runtime import Threads
from policy.service.facade_operations import (
    FacadeOperation,
    Recorded,
    is_owner_at_root,
    is_within_call,
    judged_by,
)
from policy.service.in_flight import ArrivedCall, InFlight, carrying, current_call
from policy.service.judging.guards import GuardCell
from policy.store import Acknowledgements, NotWaiting
from policy.tools import ToolOutput

# The name in records: no tool can have such a name.
ACKNOWLEDGE: Literal["placet:acknowledge"] = "placet:acknowledge"

_RELOADS = Threads("reloads after an acknowledgement", most=1)

_ALLOWED = Reason(rule="loosening", verdict=Verdict.ALLOW, message="the owner may acknowledge it")
_REFUSED = Reason(
    rule="loosening",
    verdict=Verdict.DENY,
    message="only the owner may let a policy take effect that loosens",
)


@dataclass(slots=True, kw_only=True)
class _Request:
    """A digest to acknowledge, whether a running call requested it, and whether it is done."""

    digest: str
    inside: bool
    done: bool = False


class Acknowledging:
    """Acknowledges edits that loosen. `recorded` wraps a service in the audit layer.

    `reload` puts what was acknowledged in force, None where another process does.
    """

    def __init__(
        self,
        acknowledgements: Acknowledgements,
        guards: GuardCell,
        *,
        recorded: Recorded,
        reload: Callable[[], object] | None = None,
    ) -> None:
        self._acknowledgements = acknowledgements
        self._guards = guards
        self._reload = reload
        self._recorded = recorded(FacadeOperation(self._execute))

    async def acknowledge(self, caller: Caller, digest: str) -> None:
        """Acknowledge a difference; raises PermissionDenied unless by an owner at the root.

        Raises NotFound if none with this digest waits. What cannot be recorded is not done.
        """
        request = _Request(digest=digest, inside=is_within_call())
        call = InFlight(caller, ArrivedCall(tool=ACKNOWLEDGE, input=request))
        with carrying(call):
            try:
                await self._recorded.execute(ACKNOWLEDGE, {"digest": digest})
            except ToolError:
                if request.done:
                    self._acknowledgements.withdraw(digest)
                raise
        if self._reload is not None:
            await _RELOADS.run(self._reload)

    async def _execute(self, name: str, input: Any) -> ToolOutput:
        """Do what the current call requests, if its caller may."""
        call = current_call()
        request = None if call is None or call.raw is None else call.raw.input
        if call is None or not isinstance(request, _Request):
            raise NotFound(name, f"no tool is called `{name}` here")
        may = is_owner_at_root(call.caller) and not request.inside
        reason = _ALLOWED if may else _REFUSED
        call.judgement = judged = judged_by(reason, name, input, guards=self._guards)
        if not may:
            raise PermissionDenied(name, str(reason.message), decision=judged.decision)
        by = call.caller.user or call.caller.agent
        try:
            self._acknowledgements.acknowledge(request.digest, by=by)
        except NotWaiting as error:
            raise NotFound(name, str(error)) from error
        request.done = True
        return ToolOutput(value=request.digest)

"""Elevations: people approve future calls in advance, and take that back; recorded like calls."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from contextlib import suppress
from datetime import timedelta
from typing import Any

from policy.approvals import (
    ApprovalRequest,
    Elevation,
    Grant,
    caller_digest,
    entitled,
    root_session,
    shown_input,
)
from policy.audit import Approval
from policy.decision import closed_to
from policy.model import Caller, Reason, ToolError, ValidationFailed, Verdict
from policy.service.asking.requester import NotApproved, Requester, not_approved
from policy.service.facade_operations import FacadeOperation, Recorded, judged_by
from policy.service.in_flight import ArrivedCall, InFlight, carrying, current_call
from policy.service.judging.guards import GuardCell
from policy.service.refusal_messages import denial
from policy.tools import ToolOutput

# Their names in the audit record; no tool can have such a name.
ELEVATE = "placet:elevate"
REVOKE = "placet:revoke"


class Elevations:
    """Gives and revokes elevations. `recorded` wraps a service in the audit layer."""

    def __init__(
        self,
        requester: Requester,
        guards: GuardCell,
        *,
        recorded: Recorded,
    ) -> None:
        self._ledger = requester.ledger
        self._recorded = recorded(FacadeOperation(_Elevating(requester, guards).execute))

    async def give(self, caller: Caller, wanted: Elevation) -> Grant:
        """Return the approval; raise PermissionDenied, or ValidationFailed if it is not limited."""
        call = InFlight(caller, ArrivedCall(tool=ELEVATE, input=wanted.input))
        try:
            output = await self._record(call)
        except BaseException:
            # Without a record, or a caller to receive it, the approval is taken back.
            for approval in call.approvals:
                if approval.grant is not None:
                    await self._ledger.revoke(approval.grant)
            raise
        grant: Grant = output.value
        return grant

    async def revoke(self, caller: Caller, id: str) -> Grant | None:
        """Revoke a standing approval, remembered or given in advance; None if there is none."""
        # Revoking waits for nothing, not even for its record.
        taken = await self._ledger.revoke(id)
        input = {"grant": id, "found": taken is not None}
        await self._record(InFlight(caller, ArrivedCall(tool=REVOKE, input=input)))
        return taken

    async def _record(self, call: InFlight) -> ToolOutput:
        raw = call.raw or ArrivedCall(tool=REVOKE, input={})
        with carrying(call):
            return await self._recorded.execute(raw.tool, raw.input)


class _Elevating:
    """Runs inside the audit layer, and asks people about an elevation."""

    def __init__(self, requester: Requester, guards: GuardCell) -> None:
        self._requester = requester
        self._guards = guards

    async def execute(self, name: str, input: Any) -> ToolOutput:
        """Ask people about an elevation; a revocation only has to be recorded."""
        call = current_call() or InFlight()
        if name != ELEVATE:
            call.judgement = judged_by(_REVOKED, name, input, guards=self._guards)
            return ToolOutput(value=None)
        wanted = _wanted(input)
        if wanted.problem is not None:
            raise ValidationFailed(name, wanted.problem)
        self._require_may_call(call, input)
        call.judgement = judged_by(wanted.reason, name, input, guards=self._guards)
        try:
            return ToolOutput(value=await self._given(call, wanted))
        except NotApproved as refused:
            raise not_approved(call, call.judgement, refused, detail=refused.detail) from None
        except ToolError:
            raise
        except Exception as error:
            problem = NotApproved("approval-failed", "the approval cannot be stored")
            raise not_approved(call, call.judgement, problem, detail=problem.detail) from error

    def _require_may_call(self, call: InFlight, input: Any) -> None:
        """Raise PermissionDenied if a caller of the chain may call no tool at all.

        An elevation would have no effect, so nobody is asked.
        """
        now = self._requester.now()
        for one in call.caller.chain():
            closed = closed_to(one, now)
            if closed is not None:
                call.judgement = judged_by(closed, ELEVATE, input, guards=self._guards)
                raise denial(ELEVATE, call.judgement.decision)

    async def _given(self, call: InFlight, wanted: Elevation) -> Grant:
        request = self._request(call.caller, wanted)
        approved = await self._requester.ask(request, self._guards.current.approver)
        people = entitled(approved.people, call.caller)
        if not people:
            raise NotApproved("approval-failed", "the person may not agree")
        now = self._requester.now()
        grant = Grant(
            id=uuid.uuid4().hex,
            kind="elevation",
            key=request.digest,
            caller=caller_digest(call.caller),
            session=root_session(call.caller),
            people=people,
            tools=wanted.tools,
            uses=wanted.times,
            given_at=now,
            expires=now + timedelta(seconds=wanted.seconds),
            request=request.id,
        )
        call.begins()
        await self._keep(grant)
        call.approvals += (
            Approval(
                digest=request.digest,
                outcome="approved",
                by=one.id,
                rules=(wanted.reason.rule,),
                grant=grant.id,
            )
            for one in people
        )
        return grant

    async def _keep(self, grant: Grant) -> None:
        ledger = self._requester.ledger
        try:
            await ledger.give(grant)
        except BaseException:
            # The store completes what it has begun, even if this task was cancelled.
            with suppress(Exception):
                await ledger.revoke(grant.id)
            raise

    def _request(self, caller: Caller, wanted: Elevation) -> ApprovalRequest:
        now = self._requester.now()
        return ApprovalRequest(
            id=uuid.uuid4().hex,
            kind="elevation",
            tool=wanted.name,
            input=wanted.input,
            shown=shown_input(wanted.input),
            reasons=(wanted.reason,),
            resources=wanted.lines,
            digest=wanted.digest(caller) or f"none:{uuid.uuid4().hex}",
            caller=caller,
            asked_at=now,
            expires=now + timedelta(seconds=self._requester.seconds),
        )


_REVOKED = Reason(rule="elevation", verdict=Verdict.ALLOW, message="revoked")


def _wanted(input: Any) -> Elevation:
    return Elevation(
        tools=tuple(input["tools"]),
        seconds=input["seconds"],
        times=input["times"],
        because=input["because"],
    )


def elevation_of(tools: Iterable[str], *, seconds: float, times: int, because: str) -> Elevation:
    """Return the requested elevation; a single string is a single pattern."""
    patterns = (tools,) if isinstance(tools, str) else tuple(tools)
    return Elevation(tools=patterns, seconds=seconds, times=times, because=because)

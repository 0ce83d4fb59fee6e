"""Elevations: people approve future calls in advance, and take that back; recorded like calls."""

from __future__ import annotations

import builtins
import uuid
from collections.abc import Callable, Iterable
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
from policy.decision import Decision, closed_to
from policy.model import Caller, Facts, Reason, ToolCall, ToolError, ValidationFailed, Verdict
from policy.service.asking.questions import NotApproved, Questions, not_approved
from policy.service.in_flight import ArrivedCall, InFlight, carrying, current_call
from policy.service.judging.adjudicator import Judgement
from policy.service.judging.guards import GuardCell
from policy.service.refusal_messages import denial
from policy.tools import ToolDefinition, ToolOutput, ToolService

# Their names in the audit record; no tool can have such a name.
ELEVATE = "placet:elevate"
REVOKE = "placet:revoke"


class Elevations:
    """Gives and revokes elevations. `recorded` wraps a service in the audit layer."""

    def __init__(
        self,
        questions: Questions,
        guards: GuardCell,
        *,
        recorded: Callable[[ToolService], ToolService],
    ) -> None:
        self._ledger = questions.ledger
        self._recorded = recorded(_Elevating(questions, guards))

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
    """The service inside the audit layer: it puts the question about an elevation."""

    def __init__(self, questions: Questions, guards: GuardCell) -> None:
        self._questions = questions
        self._guards = guards

    async def execute(self, name: str, input: Any) -> ToolOutput:
        """Put the question about an elevation; a revocation only has to be recorded."""
        call = current_call() or InFlight()
        if name != ELEVATE:
            call.judgement = self._judged(name, input, _TAKEN)
            return ToolOutput(value=None)
        wanted = _wanted(input)
        problem = wanted.problem
        if problem is not None:
            raise ValidationFailed(name, problem)
        self._require_somebody(call, input)
        call.judgement = self._judged(name, input, wanted.reason)
        try:
            return ToolOutput(value=await self._given(call, wanted))
        except NotApproved as refused:
            raise not_approved(call, call.judgement, refused, said=refused.said) from None
        except ToolError:
            raise
        except Exception as error:
            unkept = NotApproved("approval-failed", "what was approved cannot be kept")
            raise not_approved(call, call.judgement, unkept, said=unkept.said) from error

    def _require_somebody(self, call: InFlight, input: Any) -> None:
        """Raise PermissionDenied if a caller of the chain may call no tool at all.

        An elevation would have no effect, so nobody is asked.
        """
        now = self._questions.now()
        for one in call.caller.chain():
            closed = closed_to(one, now)
            if closed is not None:
                call.judgement = refused = self._judged(ELEVATE, input, closed)
                raise denial(ELEVATE, refused.decision)

    async def _given(self, call: InFlight, wanted: Elevation) -> Grant:
        request = self._request(call.caller, wanted)
        approved = await self._questions.put(request, self._guards.current.approver)
        people = entitled(approved.people, call.caller)
        if not people:
            raise NotApproved("approval-failed", "whoever agreed is not entitled to")
        now = self._questions.now()
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
        ledger = self._questions.ledger
        try:
            await ledger.give(grant)
        except BaseException:
            # The store completes what it has begun, even if this task was cancelled.
            with suppress(Exception):
                await ledger.revoke(grant.id)
            raise

    def _request(self, caller: Caller, wanted: Elevation) -> ApprovalRequest:
        now = self._questions.now()
        return ApprovalRequest(
            id=uuid.uuid4().hex,
            kind="elevation",
            tool=wanted.name,
            input=ToolCall(tool="", input=wanted.input).input,
            shown=shown_input(wanted.input),
            reasons=(wanted.reason,),
            resources=wanted.lines,
            digest=wanted.digest(caller) or f"none:{uuid.uuid4().hex}",
            caller=caller,
            asked_at=now,
            expires=now + timedelta(seconds=self._questions.seconds),
        )

    def _judged(self, name: str, input: Any, reason: Reason) -> Judgement:
        call = ToolCall(tool=name, input=input)
        decision = Decision(verdict=reason.verdict, call=call, asked=call, reasons=(reason,))
        return Judgement(decision=decision, facts=Facts(), guards=self._guards.current, judge=None)

    def list(self) -> builtins.list[ToolDefinition]:
        """Return no tools."""
        return []

    def describe(self, name: str) -> ToolDefinition | None:
        """Return no tool."""
        return None


_TAKEN = Reason(rule="elevation", verdict=Verdict.ALLOW, message="revoked")


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

"""An elevation in, the standing approval that people gave it out; each recorded as calls are."""

from __future__ import annotations

import builtins
import uuid
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
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
from policy.call import Caller, ToolCall
from policy.decision import Decision, Reason, closed_to
from policy.errors import PermissionDenied, ToolError, ValidationFailed
from policy.facts import Facts
from policy.service.adjudicator import Judgement
from policy.service.guards import GuardCell
from policy.service.in_flight import InFlight, RawCall, carrying, current_call
from policy.service.questions import NotApproved, Questions
from policy.service.service import ToolDefinition, ToolOutput, ToolService
from policy.service.words import denial
from policy.verdict import Verdict

# As the record names them: no tool can have such a name.
ELEVATE = "placet:elevate"
REVOKE = "placet:revoke"


class Elevations:
    """Gives and takes back elevations. `recorded` is what keeps a record around a service."""

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
        """Return what people gave; raise PermissionDenied, or ValidationFailed for no bounds."""
        call = InFlight(caller, RawCall(tool=ELEVATE, input=wanted.input))
        try:
            output = await self._record(call)
        except BaseException:
            # What is given and not on record, or not to whoever asked, is not given.
            for approval in call.approvals:
                if approval.grant is not None:
                    await self._ledger.revoke(approval.grant)
            raise
        grant: Grant = output.value
        return grant

    async def revoke(self, caller: Caller, id: str) -> Grant | None:
        """Take a standing approval back, remembered ones as well; None if there is none."""
        # Taking away waits for nothing, not even for its record.
        taken = await self._ledger.revoke(id)
        input = {"grant": id, "found": taken is not None}
        await self._record(InFlight(caller, RawCall(tool=REVOKE, input=input)))
        return taken

    async def _record(self, call: InFlight) -> ToolOutput:
        raw = call.raw or RawCall(tool=REVOKE, input={})
        with carrying(call):
            return await self._recorded.execute(raw.tool, raw.input)


class _Elevating:
    """What happens inside of the record."""

    def __init__(self, questions: Questions, guards: GuardCell) -> None:
        self._questions = questions
        self._guards = guards

    async def execute(self, name: str, input: Any) -> ToolOutput:
        """Put the question about an elevation; everything else is only to be recorded."""
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
            if refused.noted is not None:
                call.approvals.append(refused.noted)
            raise _denied(name, call, call.judgement, refused) from None
        except ToolError:
            raise
        except Exception as error:
            unkept = NotApproved("approval-failed", "what was approved cannot be kept")
            raise _denied(name, call, call.judgement, unkept) from error

    def _require_somebody(self, call: InFlight, input: Any) -> None:
        """Raise PermissionDenied where some caller of the chain may call no tool at all.

        Nothing could come of an elevation, so nobody is bothered about it.
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
            # A store goes on with what it has begun, though nobody waits for it any more.
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
        """Return no tools: this is none."""
        return []

    def describe(self, name: str) -> ToolDefinition | None:
        """Return no tool."""
        return None


def _denied(
    name: str, call: InFlight, judgement: Judgement, problem: NotApproved
) -> PermissionDenied:
    refusal = Reason(rule="approval", verdict=Verdict.DENY, message=str(problem))
    decision = replace(
        judgement.decision,
        verdict=Verdict.DENY,
        reasons=(refusal, *judgement.decision.reasons),
    )
    call.judgement = replace(judgement, decision=decision)
    return denial(name, decision, code=problem.code, said=problem.said or None)


_TAKEN = Reason(rule="elevation", verdict=Verdict.ALLOW, message="taken back")


def _wanted(input: Any) -> Elevation:
    return Elevation(
        tools=tuple(input["tools"]),
        seconds=input["seconds"],
        times=input["times"],
        because=input["because"],
    )


def elevation_of(tools: Iterable[str], *, seconds: float, times: int, because: str) -> Elevation:
    """Return what is asked for; a single text is a single pattern."""
    patterns = (tools,) if isinstance(tools, str) else tuple(tools)
    return Elevation(tools=patterns, seconds=seconds, times=times, because=because)

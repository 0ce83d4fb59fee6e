"""Asks an approver: counts the request, waits for the answer, and checks that it is valid.

Whether the people are entitled to answer is checked by the code that uses this. Any error on the
way is not an approval.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from dataclasses import replace
from datetime import datetime

from msgspec import structs

from policy.approvals import (
    ApprovalOutcome,
    ApprovalRequest,
    Approved,
    Approver,
    Denied,
    Ledger,
    Person,
    TimedOut,
    root_session,
)
from policy.audit import Approval, ApprovalResult
from policy.diagnostics import visible
from policy.model import SENTENCES, Caller, Code, PermissionDenied, Reason, Verdict
from policy.runtime import Clock, utc_now
from policy.service.in_flight import InFlight
from policy.service.judging.adjudicator import Judgement
from policy.service.refusal_messages import denial

_LOG = logging.getLogger(__name__)
_LONGEST_ANSWER = 300


class NotApproved(Exception):
    """Why there is no approval: a `code`, and a `detail` for the agent.

    `noted` is the answer for the audit record, None if nobody was asked.
    """

    def __init__(self, code: Code, detail: str = "", *, noted: Approval | None = None) -> None:
        super().__init__(f"{SENTENCES[code]}: {detail}" if detail else SENTENCES[code])
        self.code = code
        self.detail = detail
        self.noted = noted


class Requester:
    """Asks approvers.

    `limit` is how many requests a session tree may cause, `seconds` how long to wait for an answer.
    """

    def __init__(
        self, ledger: Ledger, *, limit: int = 50, seconds: float = 300.0, clock: Clock = utc_now
    ) -> None:
        self.ledger = ledger
        self.seconds = seconds
        self._clock = clock
        self._limit = limit

    def now(self) -> datetime:
        """Return the current time."""
        return self._clock()

    async def require_not_refused(self, caller: Caller, digest: str) -> None:
        """Raise NotApproved if this call was refused before in this session tree."""
        if await self.ledger.refused(root_session(caller), digest):
            raise NotApproved("approval-refused", "this was refused before in this session")

    async def ask(self, request: ApprovalRequest, approver: Approver | None) -> Approved:
        """Return the approval; raise NotApproved for any other answer, or none."""
        session = root_session(request.caller)
        await self.require_not_refused(request.caller, request.digest)
        if approver is None:
            raise NotApproved("no-approver", noted=_noted(request, "none"))
        if not await self.ledger.count(session, limit=self._limit):
            raise NotApproved("too-many-questions")
        outcome = await _answered(approver, request, seconds=self.seconds)
        match outcome:
            case Approved():
                await self.require_not_refused(request.caller, request.digest)
                return outcome
            case Denied(by=by, reason=reason):
                await self.ledger.note_refusal(session, request.digest, now=self.now())
                detail = visible(reason, _LONGEST_ANSWER) if reason else ""
                noted = _noted(request, "denied", by=by)
                raise NotApproved("approval-refused", detail, noted=noted)
            case TimedOut():
                raise NotApproved("approval-timeout", noted=_noted(request, "timeout"))
            case None:
                raise NotApproved("approval-failed", noted=_noted(request, "none"))


def not_approved(
    call: InFlight, judgement: Judgement, problem: NotApproved, *, detail: str
) -> PermissionDenied:
    """Note in a call that it was not approved, and return the error to raise."""
    refusal = Reason(rule="approval", verdict=Verdict.DENY, message=str(problem))
    reasons = (refusal, *judgement.decision.reasons)
    decision = structs.replace(judgement.decision, verdict=Verdict.DENY, reasons=reasons)
    call.judgement = replace(judgement, decision=decision)
    if problem.noted is not None:
        call.approvals.append(problem.noted)
    return denial(decision.call.tool, decision, code=problem.code, detail=detail or None)


def _noted(request: ApprovalRequest, result: ApprovalResult, *, by: str | None = None) -> Approval:
    rules = tuple(reason.rule for reason in request.reasons)
    return Approval(digest=request.digest, outcome=result, by=by, rules=rules)


async def _answered(
    approver: Approver, request: ApprovalRequest, *, seconds: float
) -> ApprovalOutcome | None:
    """Return the approver's answer; None if it failed, was cancelled or returned no answer."""
    try:
        async with asyncio.timeout(seconds) as limit:
            answer: object = approver.ask(request)
            outcome = await answer if inspect.isawaitable(answer) else answer
        # An approver that blocks, or ignores its cancellation, may answer after the time limit.
        return TimedOut() if _is_late(limit) else _well_formed(outcome)
    except TimeoutError:
        return TimedOut() if limit.expired() else None
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        return None
    except Exception as error:  # noqa: BLE001 - whatever an approver raises is not an approval
        _LOG.error("the approver failed, so the call is denied: %s", type(error).__name__)
        _LOG.debug("the approver failed", exc_info=error)
        return None


def _is_late(limit: asyncio.Timeout) -> bool:
    end = limit.when()
    return limit.expired() or (end is not None and asyncio.get_running_loop().time() >= end)


def _well_formed(outcome: object) -> ApprovalOutcome | None:
    """Return an outcome if its fields have the right types, else None: hosts write approvers."""
    match outcome:
        case Approved():
            if all(_is_person(one) for one in outcome.people):
                return outcome
            _LOG.error("the approver named nobody, or groups that are none: the call is denied")
            return None
        case Denied(by=by, reason=reason):
            return Denied(by=_text(by) or "", reason=_text(reason))
        case TimedOut():
            return outcome
        case _:
            kind = type(outcome).__name__
            _LOG.error("the approver returned a `%s`, which is no answer: the call is denied", kind)
            return None


def _is_person(person: object) -> bool:
    if not isinstance(person, Person) or _text(person.id) is None:
        return False
    groups: object = person.groups
    return isinstance(groups, tuple) and all(_text(group) is not None for group in groups)


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None

"""A judgement that asks in, the judgement that may run out: questions, and what answers are worth.

After every answer the call is judged anew, by the policy, guards, facts and clock of that moment.
It runs if nothing denies it then, it is still exactly the approved call, and everything that asks
then has been answered. Otherwise it is asked once more, or denied.
"""

from __future__ import annotations

import asyncio
import uuid
from collections import OrderedDict
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TypeAlias

from policy.audit import Approval, digest_of
from policy.call import Caller
from policy.decision import Decision, Reason
from policy.diagnostics import visible
from policy.errors import PermissionDenied
from policy.service.adjudicator import Adjudicator, Judgement
from policy.service.approvals import (
    ApprovalOutcome,
    ApprovalRequest,
    Approved,
    Approver,
    Denied,
    TimedOut,
    shown_input,
)
from policy.service.in_flight import InFlight, RawCall
from policy.service.reasons import sentence
from policy.service.resources import resource_lines
from policy.service.world import Clock, utc_now
from policy.verdict import Verdict

_QUESTIONS_A_CALL = 2
_SESSIONS_KEPT = 4_096

# What tells one asking rule from another, wherever in its file it stands by now.
_AskKey: TypeAlias = tuple[str, str | None, str | None, str | None]


@dataclass(slots=True)
class _Session:
    """What was asked in one session tree, and which calls were refused there."""

    asked: int = 0
    refused: set[str] = field(default_factory=set)


class Asking:
    """Puts the questions of one service. `limit` is how many a session may cause.

    `seconds` is how long an answer is waited for.
    """

    def __init__(
        self,
        *,
        limit: int = 50,
        seconds: float = 300.0,
        clock: Clock = utc_now,
    ) -> None:
        self._limit = limit
        self._seconds = seconds
        self._clock = clock
        self._sessions: OrderedDict[str, _Session] = OrderedDict()

    async def settle(
        self, call: InFlight, judgement: Judgement, adjudicator: Adjudicator, raw: RawCall
    ) -> Judgement:
        """Return the judgement to run by; raise PermissionDenied, or what a fresh look finds."""
        session = self._session(call.caller)
        answered: set[_AskKey] = set()
        digest = ""
        for _ in range(_QUESTIONS_A_CALL):
            now = approval_digest(judgement)
            if now != digest:
                digest, answered = now, set()
            await self._ask_one(call, judgement, session, digest)
            answered |= _ask_keys(judgement.decision)
            judgement = await adjudicator.judge(raw.tool, raw.input, call.caller)
            call.judgement = judgement
            if judgement.error is not None:
                raise judgement.error
            same = approval_digest(judgement) == digest
            if same and _ask_keys(judgement.decision) <= answered:
                return judgement
        raise _denied(judgement, "the policy or the call changed while it was being approved")

    async def _ask_one(
        self, call: InFlight, judgement: Judgement, session: _Session, digest: str
    ) -> None:
        """Get one approval, or raise PermissionDenied and say why."""
        approver = judgement.guards.approver
        rules = tuple(reason.rule for reason in judgement.decision.deciding)
        if digest in session.refused:
            raise _denied(judgement, "this very call was refused before in this session")
        if approver is None:
            call.approvals.append(Approval(digest=digest, outcome="none", rules=rules))
            raise _denied(judgement, "it needs an approval, and there is nobody to give it")
        if session.asked >= self._limit:
            raise _denied(judgement, "this session has caused too many questions")
        session.asked += 1
        outcome = await self._answer(approver, self._request(call, judgement, digest))
        if isinstance(outcome, Approved) and digest not in session.refused:
            call.approvals.append(
                Approval(digest=digest, outcome="approved", by=outcome.by, rules=rules)
            )
            return
        if isinstance(outcome, Denied):
            session.refused.add(digest)
            call.approvals.append(
                Approval(digest=digest, outcome="denied", by=outcome.by, rules=rules)
            )
            why = f": {visible(outcome.reason, 300)}" if outcome.reason else ""
            raise _denied(judgement, f"the approval was refused{why}")
        if isinstance(outcome, TimedOut):
            call.approvals.append(Approval(digest=digest, outcome="timeout", rules=rules))
            raise _denied(judgement, "nobody approved it in time")
        call.approvals.append(Approval(digest=digest, outcome="none", rules=rules))
        raise _denied(judgement, "no valid approval was given")

    async def _answer(self, approver: Approver, request: ApprovalRequest) -> ApprovalOutcome | None:
        """Return the approver's answer; None where it failed or was cancelled."""
        try:
            async with asyncio.timeout(self._seconds) as limit:
                outcome = await approver.ask(request)
            # An approver that blocks, or does not let itself be cancelled, answers too late.
            return TimedOut() if _is_late(limit) else outcome
        except TimeoutError:
            return TimedOut() if limit.expired() else None
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            return None
        except Exception:  # noqa: BLE001 - whatever an approver raises is no approval
            return None

    def _request(self, call: InFlight, judgement: Judgement, digest: str) -> ApprovalRequest:
        decision = judgement.decision
        return ApprovalRequest(
            id=uuid.uuid4().hex,
            tool=decision.call.tool,
            input=decision.call.input,
            shown=shown_input(decision.call.input),
            reasons=decision.deciding,
            resources=_resources(judgement),
            digest=digest,
            caller=call.caller,
            generation=decision.generation,
            expires=self._clock() + timedelta(seconds=self._seconds),
        )

    def _session(self, caller: Caller) -> _Session:
        """Return what is known of the caller's session tree, the longest unused one forgotten."""
        root = list(caller.chain())[-1].session
        session = self._sessions.setdefault(root, _Session())
        self._sessions.move_to_end(root)
        while len(self._sessions) > _SESSIONS_KEPT:
            self._sessions.popitem(last=False)
        return session


def _is_late(limit: asyncio.Timeout) -> bool:
    end = limit.when()
    return limit.expired() or (end is not None and asyncio.get_running_loop().time() >= end)


def approval_digest(judgement: Judgement) -> str:
    """Return the digest an approval is bound to: the tool as defined, the input, the resources."""
    call, spec = judgement.decision.call, judgement.spec
    definition = None if spec is None else {"says": spec.description, "takes": spec.schema}
    digest = digest_of(
        {
            "tool": call.tool,
            "definition": definition,
            "input": call.input,
            "resources": _resources(judgement),
        }
    )
    # A value without a digest equals nothing, not even itself: it cannot be approved.
    return digest or f"none:{uuid.uuid4().hex}"


def _resources(judgement: Judgement) -> tuple[str, ...]:
    return resource_lines(judgement.decision.call, judgement.spec, judgement.facts)


def _ask_keys(decision: Decision) -> set[_AskKey]:
    return {_ask_key(reason) for reason in decision.reasons if reason.verdict is Verdict.ASK}


def _ask_key(reason: Reason) -> _AskKey:
    # A rule without a name is known by its line, which moves when the file is edited above it.
    unnamed = reason.file is not None and reason.rule == f"{reason.file}:{reason.line}"
    return ("" if unnamed else reason.rule, reason.layer, reason.file, reason.clause)


def _denied(judgement: Judgement, why: str) -> PermissionDenied:
    """Return the error of a call that nobody let through, its decision saying so."""
    asked = judgement.decision
    refusal = Reason(rule="approval", verdict=Verdict.DENY, message=why)
    decision = replace(asked, verdict=Verdict.DENY, reasons=(refusal, *asked.reasons))
    return PermissionDenied(
        asked.call.tool, f"{why}; asked because: {sentence(asked)}", decision=decision
    )

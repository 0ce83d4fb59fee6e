"""Settles calls that ask: gets every opinion answered by people entitled to it, or denies.

After people have answered, the call is judged again, by the policy, guards, facts and time of that
moment. It runs if nothing denies it, it is still exactly the approved call, and every opinion that
now asks has been answered. Otherwise people are asked once more; then it is denied.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping
from dataclasses import replace
from datetime import datetime

from msgspec import structs

from policy.approvals import (
    Approved,
    Approver,
    AskKey,
    Grant,
    Ledger,
    SqliteApprovals,
    serving_grants,
)
from policy.audit import Approval
from policy.model import PermissionDenied, Reason, ToolError, Verdict, freeze, thaw
from policy.runtime import Clock, utc_now
from policy.service.asking.pending_call import PendingCall, people_needed
from policy.service.asking.requester import NotApproved, Requester, not_approved
from policy.service.asking.sandbox import confirms, left_to_sandbox
from policy.service.in_flight import ArrivedCall, InFlight
from policy.service.judging.adjudicator import Adjudicator, Judgement
from policy.service.layers.frozen_calls import FrozenCalls
from policy.service.refusal_messages import asked_because

_REQUESTS_PER_CALL = 2


class Asking:
    """Settles the calls of one service that ask.

    `ledger` keeps refusals, counts and standing approvals. `limit` is how many requests a session
    tree may cause, `seconds` how long to wait for each answer.
    """

    def __init__(
        self,
        *,
        ledger: Ledger | None = None,
        limit: int = 50,
        seconds: float = 300.0,
        clock: Clock = utc_now,
        stops: FrozenCalls | None = None,
    ) -> None:
        self._ledger = SqliteApprovals(":memory:") if ledger is None else ledger
        self.requester = Requester(self._ledger, limit=limit, seconds=seconds, clock=clock)
        self._clock = clock
        self._stops = stops
        self._latest: datetime | None = None

    async def settle(
        self, call: InFlight, judgement: Judgement, adjudicator: Adjudicator, raw: ArrivedCall
    ) -> Judgement:
        """Return the judgement to run by; raise PermissionDenied, or what judging again raises."""
        try:
            return await self._settled(PendingCall(call, judgement), adjudicator, raw)
        except NotApproved as problem:
            raise _denied(call, judgement, problem) from None
        except ToolError:
            raise
        except Exception as error:
            # If the ledger cannot be read, nothing is approved.
            unknown = NotApproved("approval-failed", "the approvals cannot be read")
            raise _denied(call, judgement, unknown) from error

    async def _settled(
        self, held: PendingCall, adjudicator: Adjudicator, raw: ArrivedCall
    ) -> Judgement:
        asked, first_input = 0, freeze(raw.input)
        while True:
            await self.requester.require_not_refused(held.caller, held.digest)
            served = await self._served(held)
            open_reasons = held.open_reasons(served)
            if not open_reasons:
                if await self._released(held, served):
                    return held.judgement
                # Another call used up the approval in the meantime: ask people.
                held.only_people = True
                continue
            if asked == _REQUESTS_PER_CALL:
                raise NotApproved("changed-meanwhile")
            asked += 1
            await self._ask(held, open_reasons)
            again = raw
            if freeze(raw.input) == first_input:
                # As it was read first: a model's defaults may differ each time, such as an id.
                again = replace(raw, input=thaw(held.judgement.decision.asked.input))
            judgement = await adjudicator.judge(again.tool, again.input, held.caller)
            held.look_at(judgement if again is raw else _mended(judgement, held.judgement))
            if held.judgement.error is not None:
                raise held.judgement.error

    async def _ask(self, held: PendingCall, open_reasons: tuple[Reason, ...]) -> None:
        """Have the remaining opinions answered, by the sandbox where it may, else by people."""
        guards, spec = held.judgement.guards, held.judgement.spec
        for_sandbox = tuple(reason for reason in open_reasons if left_to_sandbox(reason, spec))
        if for_sandbox and guards.sandbox is not None and confirms(guards.sandbox):
            await self._round(held, for_sandbox, guards.sandbox)
        # Each round is answered by somebody new, so as many rounds as people are needed.
        for _ in range(sum(people_needed(reason) for reason in open_reasons)):
            rest = held.unanswered(open_reasons)
            if not rest:
                return
            await self._round(held, rest, guards.approver)
        if held.unanswered(open_reasons):
            raise NotApproved("approval-failed", "not everybody who has to agree has agreed")

    async def _round(
        self, held: PendingCall, reasons: tuple[Reason, ...], approver: Approver | None
    ) -> None:
        """Ask once and record the answer; raise NotApproved if it answers no opinion."""
        request = held.request(reasons, now=self._clock(), seconds=self.requester.seconds)
        approved = await self._unless_frozen(held, self.requester.ask(request, approver))
        if not held.note(request, approved.people):
            raise NotApproved(
                "approval-failed", "the person is not entitled to agree, or had agreed already"
            )

    async def _unless_frozen(self, held: PendingCall, answer: Awaitable[Approved]) -> Approved:
        """Return the answer; raise NotApproved as soon as the tool is frozen."""
        if self._stops is None:
            return await answer
        spec = held.judgement.spec
        names = (held.judgement.decision.call.tool, *(() if spec is None else spec.names_in_rules))
        try:
            async with asyncio.timeout(None) as limit:
                with self._stops.watching(limit, names, running=False):
                    return await answer
        except TimeoutError:
            if not limit.expired():
                raise
            freeze = self._stops.freezer.current().on(names)
            raise NotApproved("frozen", "" if freeze is None else freeze.because) from None

    async def _served(self, held: PendingCall) -> Mapping[AskKey, Grant]:
        """Return the standing approvals that answer opinions that ask."""
        if held.only_people:
            return {}
        clock = self._clock()
        now = self._latest_of(clock)
        grants = await self._ledger.grants(held.asker, now=now)
        if clock < now:
            # The clock was set back: until it has caught up, no approval that expires is used.
            grants = tuple(grant for grant in grants if grant.expires is None)
        return serving_grants(
            held.asked_call, held.asking, grants, now=now, groups_of=held.groups_of
        )

    def _latest_of(self, clock: datetime) -> datetime:
        """Return the latest time seen: what has expired stays so when the clock is set back."""
        self._latest = clock if self._latest is None else max(clock, self._latest)
        return self._latest

    async def _released(self, held: PendingCall, served: Mapping[AskKey, Grant]) -> bool:
        """Use the standing approvals and keep new ones; False if one was used up meanwhile."""
        clock = self._clock()
        now = self._latest_of(clock)
        charged = held.charged(served)
        if charged and not await self._ledger.spend(tuple(charged), now=now):
            return False
        for grant in held.remembered(now=clock):
            await self._ledger.give(grant)
        for grant, rules in charged.values():
            held.call.approvals += (
                Approval(
                    digest=held.digest, outcome="approved", by=one.id, rules=rules, grant=grant.id
                )
                for one in grant.people
            )
        return True


def _denied(call: InFlight, judgement: Judgement, problem: NotApproved) -> PermissionDenied:
    """Return the error for a call that was not approved, which says why it was asked about."""
    judgement = call.judgement or judgement
    why = asked_because(structs.replace(judgement.decision, verdict=Verdict.ASK))
    detail = (problem.detail, f"asked because: {why}" if why else "")
    return not_approved(call, judgement, problem, detail="; ".join(part for part in detail if part))


def _mended(judgement: Judgement, before: Judgement) -> Judgement:
    """Return the judgement with the repairs of the first admission."""
    decision = judgement.decision
    repairs = tuple(dict.fromkeys((*before.decision.repairs, *decision.repairs)))
    return replace(judgement, decision=structs.replace(decision, repairs=repairs))

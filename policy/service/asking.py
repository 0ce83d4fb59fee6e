"""A judgement that asks in, the judgement that may run out: what must be answered, and by whom.

A call waits until every opinion that asks has been answered by somebody entitled to that one.
After people have answered it is judged anew, by the policy, guards, facts and clock of that moment.
It runs if nothing denies it then, it is still exactly the approved call, and everything that asks
then has been answered. Otherwise it is asked once more, or denied.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping
from dataclasses import replace
from datetime import datetime

from policy.approvals import (
    Approved,
    Approver,
    AskKey,
    Grant,
    Ledger,
    SqliteApprovals,
    serving,
)
from policy.audit import Approval
from policy.call import freeze, thaw
from policy.clock import Clock, utc_now
from policy.decision import Reason
from policy.errors import PermissionDenied, ToolError
from policy.service.adjudicator import Adjudicator, Judgement
from policy.service.in_flight import InFlight, RawCall
from policy.service.on_hold import OnHold, people_needed
from policy.service.questions import NotApproved, Questions
from policy.service.sandbox import confirms, left_to_sandbox
from policy.service.stopping import Stops
from policy.service.words import asked_because, denial
from policy.verdict import Verdict

_QUESTIONS_A_CALL = 2


class Asking:
    """Settles the calls of one service that ask.

    What was refused and what still serves is in `ledger`. A question may go to several people one
    after another; `limit` is how often those of one session tree may be bothered, `seconds` how
    long each answer is waited for.
    """

    def __init__(
        self,
        *,
        ledger: Ledger | None = None,
        limit: int = 50,
        seconds: float = 300.0,
        clock: Clock = utc_now,
        stops: Stops | None = None,
    ) -> None:
        self._ledger = SqliteApprovals(":memory:") if ledger is None else ledger
        self.questions = Questions(self._ledger, limit=limit, seconds=seconds, clock=clock)
        self._clock = clock
        self._stops = stops
        self._latest: datetime | None = None

    async def settle(
        self, call: InFlight, judgement: Judgement, adjudicator: Adjudicator, raw: RawCall
    ) -> Judgement:
        """Return the judgement to run by; raise PermissionDenied, or what a fresh look finds."""
        try:
            return await self._settled(OnHold(call, judgement), adjudicator, raw)
        except NotApproved as problem:
            if problem.noted is not None:
                call.approvals.append(problem.noted)
            raise _denied(call, judgement, problem) from None
        except ToolError:
            raise
        except Exception as error:
            # Where nobody can look up what was refused, and what is left, nothing is approved.
            unknown = NotApproved("approval-failed", "what was approved cannot be looked up")
            raise _denied(call, judgement, unknown) from error

    async def _settled(self, held: OnHold, adjudicator: Adjudicator, raw: RawCall) -> Judgement:
        asked, given = 0, freeze(raw.input)
        while True:
            await self.questions.require_not_refused(held.caller, held.digest)
            served = await self._served(held)
            left = held.left(served)
            if not left:
                if await self._released(held, served):
                    return held.judgement
                # Somebody else took what was left of it; from now on only people are asked.
                held.alone = True
                continue
            if asked == _QUESTIONS_A_CALL:
                raise NotApproved("changed-meanwhile")
            asked += 1
            await self._ask(held, left)
            again = raw
            if freeze(raw.input) == given:
                # As it was read: a model may fill in what is another each time, such as an id.
                again = replace(raw, input=thaw(held.judgement.decision.asked.input))
            judgement = await adjudicator.judge(again.tool, again.input, held.caller)
            held.look_at(judgement if again is raw else _mended(judgement, held.judgement))
            if held.judgement.error is not None:
                raise held.judgement.error

    async def _ask(self, held: OnHold, left: tuple[Reason, ...]) -> None:
        """Get everything answered that is left: by the sandbox where it asks, else by people."""
        guards, spec = held.judgement.guards, held.judgement.spec
        own = tuple(reason for reason in left if left_to_sandbox(reason, spec))
        if own and guards.sandbox is not None and confirms(guards.sandbox):
            await self._round(held, own, guards.sandbox)
        # Each round somebody new has answered something, so there is one for everybody wanted.
        for _ in range(sum(people_needed(reason) for reason in left)):
            rest = held.unanswered(left)
            if not rest:
                return
            await self._round(held, rest, guards.approver)
        if held.unanswered(left):
            raise NotApproved("approval-failed", "not everybody who has to agree has agreed")

    async def _round(
        self, held: OnHold, reasons: tuple[Reason, ...], approver: Approver | None
    ) -> None:
        """Put one question, and keep what its answer is worth; raise NotApproved for nothing."""
        request = held.request(reasons, now=self._clock(), seconds=self.questions.seconds)
        approved = await self._unless_frozen(held, self.questions.put(request, approver))
        if not held.note(request, approved.people):
            raise NotApproved("approval-failed", "whoever agreed is not entitled to, or had agreed")

    async def _unless_frozen(self, held: OnHold, question: Awaitable[Approved]) -> Approved:
        """Return the answer; raise NotApproved at once where people freeze the tool meanwhile."""
        if self._stops is None:
            return await question
        spec = held.judgement.spec
        names = (held.judgement.decision.call.tool, *(() if spec is None else spec.names_in_rules))
        try:
            async with asyncio.timeout(None) as limit:
                with self._stops.watching(limit, names, running=False):
                    return await question
        except TimeoutError:
            if not limit.expired():
                raise
            freeze = self._stops.freezer.current().on(names)
            raise NotApproved("frozen", "" if freeze is None else freeze.because) from None

    async def _served(self, held: OnHold) -> Mapping[AskKey, Grant]:
        """Return which standing approvals answer what asks."""
        if held.alone:
            return {}
        clock = self._clock()
        now = self._latest_of(clock)
        grants = await self._ledger.grants(held.asker, now=now)
        if clock < now:
            # Until a clock that stepped back has caught up, nothing that ends is relied on.
            grants = tuple(grant for grant in grants if grant.expires is None)
        return serving(held.asked_call, held.asking, grants, now=now)

    def _latest_of(self, clock: datetime) -> datetime:
        """Return the latest time seen: what has ended stays ended, whatever the clock does."""
        self._latest = clock if self._latest is None else max(clock, self._latest)
        return self._latest

    async def _released(self, held: OnHold, served: Mapping[AskKey, Grant]) -> bool:
        """Charge what serves the call and keep what it leaves; False where that was gone."""
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
    """Return the error of a call that nobody let through; what is judged of it says so from now."""
    judged = (call.judgement or judgement).decision
    asked = replace(judged, verdict=Verdict.ASK)
    refusal = Reason(rule="approval", verdict=Verdict.DENY, message=str(problem))
    decision = replace(judged, verdict=Verdict.DENY, reasons=(refusal, *judged.reasons))
    call.judgement = replace(call.judgement or judgement, decision=decision)
    why = asked_because(asked)
    said = "; asked because: ".join(part for part in (problem.said, why) if part)
    if why and not problem.said:
        said = f"asked because: {why}"
    return denial(judged.call.tool, decision, code=problem.code, said=said or None)


def _mended(judgement: Judgement, before: Judgement) -> Judgement:
    """Return the judgement with what was mended when the call was read first."""
    decision = judgement.decision
    repairs = tuple(dict.fromkeys((*before.decision.repairs, *decision.repairs)))
    return replace(judgement, decision=replace(decision, repairs=repairs))

"""A call that waits for approval: what asks about it, who has answered, what is still unanswered.

Answers are bound to one exact call. If the tool's definition, the input or the files that its paths
lead to have changed since, they are dropped. An answer counts only while its person is in the group
that may give it.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta

from policy.approvals import (
    ApprovalRequest,
    AskedCall,
    AskKey,
    Grant,
    Person,
    as_of_now,
    ask_key,
    call_digest,
    caller_digest,
    entitled,
    identity,
    may_answer,
    remembered_key,
    root_session,
    shown_input,
    unanswered,
)
from policy.audit import Approval
from policy.generation import Generation
from policy.model import Caller, Reason, Verdict
from policy.service.asking.resource_lines import resource_lines, shown_lines, value_lines
from policy.service.in_flight import InFlight
from policy.service.judging.adjudicator import Judgement
from policy.service.judging.looked_for import looked_for


class PendingCall:
    """One call that waits for approval.

    `asking` are the opinions that ask about it. `only_people` is set once standing approvals must
    not answer them any more. `asker` is the digest of the caller.
    """

    def __init__(self, call: InFlight, judgement: Judgement) -> None:
        self.call = call
        self.asking: tuple[Reason, ...] = ()
        self.only_people = False
        self._answers: dict[AskKey, tuple[Person, ...]] = {}
        self._requests: dict[AskKey, str] = {}
        self._digest = ""
        # The caller stays the same, however often the call is judged.
        self.asker = caller_digest(call.caller)
        self.look_at(judgement)

    @property
    def caller(self) -> Caller:
        """The caller that made the call."""
        return self.call.caller

    @property
    def digest(self) -> str:
        """The digest of the call as it would run."""
        return self._digest

    @property
    def asked_call(self) -> AskedCall:
        """The call as standing approvals are compared with it."""
        return AskedCall(
            call=self.judgement.decision.call,
            spec=self.judgement.spec,
            digest=self._digest,
            caller=self.caller,
            asker=self.asker,
            accessed=lambda part: resource_lines(self.judgement, self.caller, input=part),
        )

    def groups_of(self, person: str) -> tuple[str, ...]:
        """Return the groups of a person by the policy that judged the call last."""
        judge = self.judgement.judge
        settings = judge.settings.approvals if isinstance(judge, Generation) else None
        return () if settings is None else settings.groups_of(person)

    def look_at(self, judgement: Judgement) -> None:
        """Take over a new judgement of the call."""
        self.judgement = self.call.judgement = judgement
        self._resources = resource_lines(judgement, self.caller)
        digest = call_digest(judgement.decision.call, judgement.spec, self._resources)
        if digest != self._digest:
            self._digest = digest
            self._answers.clear()
        # If nothing asks any more, the earlier opinions still have to be answered: for the same
        # call they have been, and for a changed call the stricter verdict stands.
        self.asking = _asks(judgement) or self.asking

    def unanswered(self, reasons: Iterable[Reason]) -> tuple[Reason, ...]:
        """Return those of the opinions that people have not answered for this exact call."""
        return tuple(
            reason for reason in reasons if unanswered((reason,), self._people(reason), self.caller)
        )

    def open_reasons(self, served: Mapping[AskKey, Grant]) -> tuple[Reason, ...]:
        """Return the opinions that neither people nor standing approvals have answered."""
        return tuple(
            reason for reason in self.unanswered(self.asking) if ask_key(reason) not in served
        )

    def charged(self, served: Mapping[AskKey, Grant]) -> dict[str, tuple[Grant, tuple[str, ...]]]:
        """Return the standing approvals that the call needs, each with the rules it answers."""
        found: dict[str, tuple[Grant, tuple[str, ...]]] = {}
        for reason in self.unanswered(self.asking):
            grant = served[ask_key(reason)]
            rules = found[grant.id][1] if grant.id in found else ()
            found[grant.id] = (grant, (*rules, reason.rule))
        return found

    def request(
        self, reasons: tuple[Reason, ...], *, now: datetime, seconds: float
    ) -> ApprovalRequest:
        """Return a request for approval of the call as it would run."""
        decision = self.judgement.decision
        return ApprovalRequest(
            id=uuid.uuid4().hex,
            tool=decision.call.tool,
            input=decision.call.input,
            shown=shown_input(decision.call.input),
            reasons=reasons,
            resources=shown_lines(self._resources),
            values=value_lines(looked_for(self.judgement, self.caller)),
            digest=self._digest,
            caller=self.caller,
            generation=decision.generation,
            asked_at=now,
            expires=now + timedelta(seconds=seconds),
        )

    def _people(self, reason: Reason) -> tuple[Person, ...]:
        """Return who has agreed to an opinion, with the groups that they belong to now."""
        return as_of_now(self._answers.get(ask_key(reason), ()), self.groups_of)

    def note(self, request: ApprovalRequest, people: tuple[Person, ...]) -> bool:
        """Record who has agreed to what; return False if that answers nothing new."""
        able = {identity(person) for person in entitled(people, self.caller)}
        helped = False
        for person in as_of_now(people, self.groups_of):
            matching = tuple(
                reason
                for reason in request.reasons
                if identity(person) in able and self._is_new(person, reason)
            )
            for reason in matching:
                key = ask_key(reason)
                self._answers[key] = (*self._answers.get(key, ()), person)
                self._requests[key] = request.id
            helped = helped or bool(matching)
            self.call.approvals.append(
                Approval(
                    digest=request.digest,
                    outcome="approved" if matching else "none",
                    by=person.id,
                    rules=tuple(reason.rule for reason in matching or request.reasons),
                )
            )
        return helped

    def _is_new(self, person: Person, reason: Reason) -> bool:
        known = self._answers.get(ask_key(reason), ())
        return may_answer(person, reason) and all(
            identity(person) != identity(other) for other in known
        )

    def remembered(self, *, now: datetime) -> Iterator[Grant]:
        """Yield the approvals to remember: they serve further calls, this one being the first."""
        for reason in _asks(self.judgement):
            people = self._people(reason)
            remember = reason.terms.remember if reason.terms is not None else None
            if not people or remember is None or remember.times == 1:
                continue
            key = remembered_key(reason, self.asked_call)
            if key is None:
                continue
            seconds = remember.seconds
            yield Grant(
                id=uuid.uuid4().hex,
                kind="remembered",
                key=key,
                caller=self.asker,
                session=root_session(self.caller),
                people=people,
                uses=None if remember.times is None else remember.times - 1,
                given_at=now,
                expires=None if seconds is None else now + timedelta(seconds=seconds),
                request=self._requests.get(ask_key(reason)),
            )


def people_needed(reason: Reason) -> int:
    """Return how many people it takes to answer one opinion."""
    terms = reason.terms
    return max(2, len(terms.groups)) if terms is not None and terms.two_people else 1


def _asks(judgement: Judgement) -> tuple[Reason, ...]:
    """Return the opinions that ask; if a judge returns none, one in its place."""
    decision = judgement.decision
    asks = tuple(reason for reason in decision.reasons if reason.verdict is Verdict.ASK)
    if asks or decision.verdict is not Verdict.ASK:
        return asks
    return (Reason(rule="policy", verdict=Verdict.ASK),)

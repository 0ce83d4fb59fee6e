"""A question in, the answer of people out: `ApprovalGate`, an approver with a desk behind it.

A call waits on a future of its own and costs nothing else. Answers given through this gate reach it
at once; those given elsewhere, in another process, are found by one task that looks at the desk
while somebody waits. An approval is taken from the desk before the call may run, and a desk gives
each to one taker, so that one answer never runs two calls.
"""

from __future__ import annotations

import logging
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from typing import assert_never

from policy.approvals.answer import ApprovalOutcome, Approved, Denied, TimedOut
from policy.approvals.binding import question_key
from policy.approvals.entitlement import Person, entitled
from policy.approvals.filed import Ended, Filed, is_sound
from policy.approvals.request import ApprovalRequest
from policy.approvals.store import Desk, StoreUnusable
from policy.approvals.watch import Listener, Watch, answered_within
from policy.clock import Clock, is_past, seconds_until, utc_now

_LOG = logging.getLogger("policy.approvals")


class QuestionWithdrawn(Exception):
    """The question was cancelled while its call waited: nobody approved, and nobody refused."""


class ApprovalGate:
    """Puts questions on a desk and waits for people, here or in another process.

    `poll` is how many seconds an answer given in another process may take to be noticed.
    """

    def __init__(self, desk: Desk, *, poll: float = 0.25, clock: Clock = utc_now) -> None:
        self._desk = desk
        self._clock = clock
        self._watch = Watch(desk, poll=poll)
        self._lock = threading.Lock()
        self._askers: dict[str, int] = {}
        self._is_left = False

    @property
    def desk(self) -> Desk:
        """Where the questions are."""
        return self._desk

    async def ask(self, request: ApprovalRequest) -> ApprovalOutcome:
        """Put the question and wait; raise QuestionWithdrawn where it was cancelled meanwhile.

        One that was put before, by a process that died or by the same call beside this one, is
        taken up. Whoever is cancelled takes its question back.
        """
        await self._watch.begin()
        key = question_key(request)
        while True:
            outcome = await self._ask_once(request, key)
            if outcome is not None:
                return outcome
            # The answer served the same call beside this one: each execution has its own.
            request = replace(request, id=uuid.uuid4().hex)

    async def pending(self, session: str | None = None) -> tuple[Filed, ...]:
        """Return the questions that wait, oldest first, of one session tree if one is named."""
        return await self._desk.open(now=self._clock(), session=session)

    async def get(self, id: str) -> Filed | None:
        """Return one question, whatever became of it."""
        return await self._desk.get(id, now=self._clock())

    async def approve(self, id: str, person: Person) -> Filed:
        """Note that somebody agrees; raise AnswerRefused where the answer cannot be taken."""
        await self._watch.begin()
        filed = await self._desk.agree(id, person, now=self._clock())
        self._watch.tell(filed)
        return filed

    async def deny(self, id: str, person: Person, message: str | None = None) -> Filed:
        """Refuse a question, `message` says why to the agent; raise AnswerRefused if it is gone."""
        await self._watch.begin()
        filed = await self._desk.refuse(id, person, now=self._clock(), message=message)
        self._watch.tell(filed)
        return filed

    async def deny_all(self, session: str, person: Person, message: str | None = None) -> int:
        """Refuse every question that waits in a session tree; return how many there were."""
        await self._watch.begin()
        now = self._clock()
        refused = await self._desk.refuse_all(session, person, now=now, message=message)
        for filed in refused:
            self._watch.tell(filed)
        return len(refused)

    async def cancel(self, id: str) -> Filed | None:
        """Take a question back, an approval that nobody took included; None where it had ended."""
        await self._watch.begin()
        return await self._end(id, "cancelled")

    def leave(self) -> None:
        """Take no question back from now on: this process ends, and its calls may come again."""
        self._is_left = True

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Tell `listener` of every question that is put or changes; return what ends that.

        It hears of what other processes do while this gate has a call that waits.
        """
        return self._watch.subscribe(listener)

    async def _ask_once(self, request: ApprovalRequest, key: str) -> ApprovalOutcome | None:
        """Return the answer; None where it has served another call."""
        id = request.id
        with self._asking(key):
            try:
                filed = await self._desk.file(request, key, now=self._clock())
                id = filed.request.id
                found = await self._end_of(filed, request.expires)
                if found is not None:
                    return await self._outcome(found)
                await self._take_back(id, key, "expired")
                return TimedOut()
            except BaseException:
                late = is_past(request.expires, self._clock())
                await self._take_back(id, key, "expired" if late else "cancelled")
                raise

    async def _end_of(self, filed: Filed, limit: datetime | None) -> Filed | None:
        """Return a question when it waits no more; None once the time of call or question is up."""
        id = filed.request.id
        with self._watch.waiting(id) as place:
            self._watch.tell(filed)
            if self._watch.is_old(filed):
                # It was answered before there was a place to tell of it.
                filed = await self._desk.get(id, now=self._clock()) or filed
            if filed.state != "pending":
                return filed
            ends = [end for end in (limit, filed.request.expires) if end is not None]
            seconds = min((seconds_until(end, self._clock()) for end in ends), default=None)
            return await answered_within(place, seconds)

    async def _outcome(self, filed: Filed) -> ApprovalOutcome | None:
        """Return what a question that waits no more says to the call that has put it."""
        id = filed.request.id
        if filed.state == "approved":
            taken = await self._end(id, "used")
            if taken is not None:
                return _approved(taken)
            filed = await self._desk.get(id, now=self._clock()) or filed
        match filed.state:
            case "used":
                return None
            case "denied":
                return Denied(by=filed.denied_by or "", reason=filed.message)
            case "cancelled":
                raise QuestionWithdrawn("the question was withdrawn before anybody answered it")
            case "expired" | "pending" | "approved":
                return TimedOut()
            case state:
                assert_never(state)

    @contextmanager
    def _asking(self, key: str) -> Iterator[None]:
        """Count a call that asks: a question is taken back by the last of its calls."""
        with self._lock:
            self._askers[key] = self._askers.get(key, 0) + 1
        try:
            yield
        finally:
            with self._lock:
                self._askers[key] -= 1
                if not self._askers[key]:
                    del self._askers[key]

    async def _take_back(self, id: str, key: str, state: Ended) -> None:
        """End a question whose call does not wait any more, unless another one does."""
        if self._is_left or self._askers[key] > 1:
            return
        try:
            await self._end(id, state)
        except Exception as error:  # noqa: BLE001 - it expires by itself; the call is denied anyway
            _LOG.warning("a question could not be taken back: %s", error)

    async def _end(self, id: str, state: Ended) -> Filed | None:
        ended = await self._desk.end(id, state, now=self._clock())
        if ended is not None:
            self._watch.tell(ended)
        return ended


def _approved(filed: Filed) -> Approved:
    # Weighed once more where it counts: whatever a desk says, people have to have agreed.
    if not is_sound(filed):
        raise StoreUnusable("this question is said to be approved, and is not")
    first, *others = entitled(filed.people, filed.request.caller)
    return Approved(by=first.id, groups=first.groups, with_=tuple(others))

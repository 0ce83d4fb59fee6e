"""`ApprovalGate`: an approver that files requests in a store, where people answer them.

Each call waits on a future. An answer given through this gate reaches it at once; one given in
another process is found by a task that polls the store while calls wait. Before a call may run, its
approval is marked as used, which succeeds only once: one answer never runs two calls.
"""

from __future__ import annotations

import logging
import os
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from typing import assert_never

from policy.approvals.answer import ApprovalOutcome, Approved, Denied, TimedOut
from policy.approvals.binding import request_key
from policy.approvals.entitlement import Person, entitled
from policy.approvals.filed import Ended, Filed, is_sound
from policy.approvals.request import ApprovalRequest
from policy.approvals.store import Desk, StoreUnusable
from policy.approvals.watch import Listener, Watch, answered_within
from policy.runtime import Clock, is_past, seconds_until, utc_now

_LOG = logging.getLogger("policy.approvals")
# What a gate asks of a store of requests.
_NEEDED = ("file", "get", "open", "agree", "refuse", "end")


class RequestWithdrawn(Exception):
    """The request was cancelled while its call waited: it was neither approved nor denied."""


class ApprovalGate:
    """Files requests in a store and waits until people answer, here or in another process.

    `poll` is the interval in seconds at which the store is read for answers of other processes.
    """

    def __init__(self, desk: Desk, *, poll: float = 0.25, clock: Clock = utc_now) -> None:
        for name in _NEEDED:
            if not callable(getattr(desk, name, None)):
                raise _not_a_desk(desk, name)
        self._desk = desk
        self._clock = clock
        self._watch = Watch(desk, poll=poll)
        self._lock = threading.Lock()
        self._askers: dict[str, int] = {}
        self._is_closing = False

    @property
    def desk(self) -> Desk:
        """The store that holds the requests."""
        return self._desk

    async def ask(self, request: ApprovalRequest) -> ApprovalOutcome:
        """File the request and return the answer; raise RequestWithdrawn if it was cancelled.

        If there is an open request about the same call, of an equal call or of a process that died,
        the answer to that one is returned. If the task is cancelled, so is its request.
        """
        await self._watch.begin()
        key = request_key(request)
        while True:
            outcome = await self._ask_once(request, key)
            if outcome is not None:
                return outcome
            # An equal call used the answer; each execution needs a separate one.
            request = replace(request, id=uuid.uuid4().hex)

    async def pending(self, session: str | None = None) -> tuple[Filed, ...]:
        """Return the pending requests, oldest first, of one session tree if one is named."""
        return await self._desk.open(now=self._clock(), session=session)

    async def get(self, id: str) -> Filed | None:
        """Return one request in any state; None if there is none."""
        return await self._desk.get(id, now=self._clock())

    async def approve(self, id: str, person: Person) -> Filed:
        """Record that a person agrees; raise AnswerRefused if the answer cannot be taken."""
        await self._watch.begin()
        filed = await self._desk.agree(id, person, now=self._clock())
        self._watch.report(filed)
        return filed

    async def deny(self, id: str, person: Person, message: str | None = None) -> Filed:
        """Deny a request, with a message to the agent; raise AnswerRefused if it has ended."""
        await self._watch.begin()
        filed = await self._desk.refuse(id, person, now=self._clock(), message=message)
        self._watch.report(filed)
        return filed

    async def deny_all(self, session: str, person: Person, message: str | None = None) -> int:
        """Deny every pending request of a session tree; return how many there were."""
        await self._watch.begin()
        now = self._clock()
        refused = await self._desk.refuse_all(session, person, now=now, message=message)
        for filed in refused:
            self._watch.report(filed)
        return len(refused)

    async def cancel(self, id: str) -> Filed | None:
        """Cancel a request, even an approved one that is not used yet; None if it had ended."""
        await self._watch.begin()
        return await self._end(id, "cancelled")

    def leave(self) -> None:
        """Cancel no more requests: this process ends, and its calls may be repeated later."""
        self._is_closing = True

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` with every new or changed request; return a function to stop.

        Changes by other processes are noticed while a call waits at this gate.
        """
        return self._watch.subscribe(listener)

    async def _ask_once(self, request: ApprovalRequest, key: str) -> ApprovalOutcome | None:
        """Return the answer; None if an equal call used it."""
        id = request.id
        with self._asking(key):
            try:
                filed = await self._desk.file(request, key, now=self._clock())
                id = filed.request.id
                found = await self._end_of(filed, request.expires)
                if found is not None:
                    return await self._outcome(found)
                await self._end_unless_shared(id, key, "expired")
                return TimedOut()
            except BaseException:
                late = is_past(request.expires, self._clock())
                await self._end_unless_shared(id, key, "expired" if late else "cancelled")
                raise

    async def _end_of(self, filed: Filed, limit: datetime | None) -> Filed | None:
        """Return the request once it is not pending; None if it or the call runs out of time."""
        id = filed.request.id
        with self._watch.waiting(id) as answer:
            self._watch.report(filed)
            if self._watch.is_old(filed):
                # It changed before this call was registered as waiting.
                filed = await self._desk.get(id, now=self._clock()) or filed
            if filed.state != "pending":
                return filed
            ends = [end for end in (limit, filed.request.expires) if end is not None]
            seconds = min((seconds_until(end, self._clock()) for end in ends), default=None)
            return await answered_within(answer, seconds)

    async def _outcome(self, filed: Filed) -> ApprovalOutcome | None:
        """Return what an answered request means for this call; None if an equal call used it."""
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
                raise RequestWithdrawn("the request was withdrawn before anybody answered it")
            case "expired" | "pending" | "approved":
                return TimedOut()
            case state:
                assert_never(state)

    @contextmanager
    def _asking(self, key: str) -> Iterator[None]:
        """Count the calls that wait for a request: only the last one may cancel it."""
        with self._lock:
            self._askers[key] = self._askers.get(key, 0) + 1
        try:
            yield
        finally:
            with self._lock:
                self._askers[key] -= 1
                if not self._askers[key]:
                    del self._askers[key]

    async def _end_unless_shared(self, id: str, key: str, state: Ended) -> None:
        """End a request whose call no longer waits, unless an equal call does."""
        if self._is_closing or self._askers[key] > 1:
            return
        try:
            await self._end(id, state)
        except Exception as error:  # noqa: BLE001 - it expires by itself, and the call is denied
            _LOG.warning("an approval request could not be cancelled: %s", error)

    async def _end(self, id: str, state: Ended) -> Filed | None:
        ended = await self._desk.end(id, state, now=self._clock())
        if ended is not None:
            self._watch.report(ended)
        return ended


def _not_a_desk(given: object, missing: str) -> TypeError:
    if isinstance(given, (str, os.PathLike)):
        path = os.fspath(given)
        return TypeError(f"a path keeps no approval requests: pass `SqliteApprovals({path!r})`")
    kind = type(given).__name__
    return TypeError(f"`{kind}` keeps no approval requests: it has no method `{missing}`")


def _approved(filed: Filed) -> Approved:
    # Checked again, whatever the store returned: the people must be entitled to approve this.
    if not is_sound(filed):
        raise StoreUnusable("this request is marked as approved, but its approval is not valid")
    first, *others = entitled(filed.people, filed.request.caller)
    return Approved(by=first.id, groups=first.groups, with_=tuple(others), listed=first.listed)

"""A model of the approvals store, in plain dictionaries, for comparison with the real one."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime

from policy.approvals import (
    AnswerRefused,
    ApprovalRequest,
    Bounds,
    Ended,
    Filed,
    Grant,
    NotFiled,
    Person,
    root_session,
)
from policy.approvals.filed import OPEN, agreed, as_of, denied, ended, is_about


@dataclass(slots=True)
class _Session:
    """What was asked in one session tree, and which calls were refused there, oldest first."""

    asked: int = 0
    refused: OrderedDict[str, None] = field(default_factory=OrderedDict)


class Model:
    """A `Desk` and a `Ledger` without a database."""

    def __init__(self, *, bounds: Bounds | None = None) -> None:
        self._bounds = bounds or Bounds()
        self._lock = threading.Lock()
        self._revision = 0
        self._filed: dict[str, Filed] = {}
        self._changed: OrderedDict[str, None] = OrderedDict()
        self._open: dict[str, None] = {}
        self._by_key: dict[str, str] = {}
        self._closed: OrderedDict[str, None] = OrderedDict()
        self._sessions: OrderedDict[str, _Session] = OrderedDict()
        self._grants: dict[str, Grant] = {}
        self._last_used: OrderedDict[str, None] = OrderedDict()

    # ---- the desk

    async def file(self, request: ApprovalRequest, key: str, *, now: datetime) -> Filed:
        """File a request, or return one with the same key that is open, or approved and unused."""
        with self._lock:
            known = self._by_key.get(key)
            if known is not None:
                filed = self._look(known, now)
                if is_about(filed, request):
                    return filed
            if request.id in self._filed:
                raise NotFiled("a request with this id exists already")
            if len(self._open) >= self._bounds.open:
                for id in tuple(self._open):
                    self._look(id, now)
            if len(self._open) >= self._bounds.open:
                raise NotFiled("too many requests wait for an answer")
            filed = self._keep(as_of(Filed(request=request, key=key), now))
            self._forget_closed()
            return filed

    async def get(self, id: str, *, now: datetime) -> Filed | None:
        """Return one request."""
        with self._lock:
            filed = self._filed.get(id)
        return None if filed is None else as_of(filed, now)

    async def open(self, *, now: datetime, session: str | None = None) -> tuple[Filed, ...]:
        """Return the pending requests, oldest first, of one session tree if one is named."""
        with self._lock:
            return self._pending(now, session)

    async def since(self, revision: int) -> tuple[Filed, ...]:
        """Return the requests that changed after `revision`, in that order."""
        found: list[Filed] = []
        with self._lock:
            for id in reversed(self._changed):
                filed = self._filed[id]
                if filed.revision <= revision:
                    break
                found.append(filed)
        return tuple(reversed(found))

    async def revision(self) -> int:
        """Return the number of the last change."""
        return self._revision

    async def agree(self, id: str, person: Person, *, now: datetime) -> Filed:
        """Note that somebody agrees; raise AnswerRefused where the answer cannot be taken."""
        with self._lock:
            return self._answer(id, lambda filed: agreed(filed, person), now)

    async def refuse(
        self, id: str, person: Person, *, now: datetime, message: str | None = None
    ) -> Filed:
        """Deny a request; raise AnswerRefused if it is not pending."""
        with self._lock:
            refused = self._answer(id, lambda filed: denied(filed, person, message), now)
            self._note_refused(refused)
            return refused

    async def refuse_all(
        self, session: str, person: Person, *, now: datetime, message: str | None = None
    ) -> tuple[Filed, ...]:
        """Deny every pending request of a session tree at once; return them."""
        with self._lock:
            found = self._pending(now, session)
            refused = tuple(self._keep(denied(filed, person, message)) for filed in found)
            for filed in refused:
                self._note_refused(filed)
            return refused

    async def end(self, id: str, state: Ended, *, now: datetime) -> Filed | None:
        """End a request without a denial, and return it; None if it had ended."""
        with self._lock:
            if id not in self._filed:
                return None
            closed = ended(self._look(id, now), state)
            return None if closed is None else self._keep(closed)

    def _answer(self, id: str, change: Callable[[Filed], Filed], now: datetime) -> Filed:
        if id not in self._filed:
            raise AnswerRefused("there is no such request")
        return self._keep(change(self._look(id, now)))

    def _look(self, id: str, now: datetime) -> Filed:
        """Return a request as of now, and store it if it has expired."""
        filed = self._filed[id]
        found = as_of(filed, now)
        return filed if found is filed else self._keep(found)

    def _keep(self, filed: Filed) -> Filed:
        """Store a changed request under the next revision."""
        self._revision += 1
        filed = replace(filed, revision=self._revision)
        id = filed.request.id
        self._filed[id] = filed
        self._changed[id] = None
        self._changed.move_to_end(id)
        if filed.state in OPEN:
            self._open[id] = None
            self._by_key[filed.key] = id
            return filed
        self._open.pop(id, None)
        if self._by_key.get(filed.key) == id:
            del self._by_key[filed.key]
        self._closed[id] = None
        return filed

    def _pending(self, now: datetime, session: str | None) -> tuple[Filed, ...]:
        found = (as_of(self._filed[id], now) for id in self._open)
        return tuple(
            filed
            for filed in found
            if filed.state == "pending"
            and (session is None or root_session(filed.request.caller) == session)
        )

    def _forget_closed(self) -> None:
        while len(self._closed) > self._bounds.closed:
            id, _ = self._closed.popitem(last=False)
            del self._filed[id], self._changed[id]

    # ---- the ledger

    async def count(self, session: str, *, limit: int) -> bool:
        """Count one more request of a session tree; False, and not counted, beyond `limit`."""
        with self._lock:
            known = self._session(session)
            if known.asked >= limit:
                return False
            known.asked += 1
            return True

    async def refused(self, session: str, digest: str) -> bool:
        """Tell whether this very call was refused in this session tree."""
        with self._lock:
            known = self._sessions.get(session)
            return known is not None and digest in known.refused

    async def note_refusal(self, session: str, digest: str, *, now: datetime) -> None:
        """Remember that this very call was refused in this session tree."""
        with self._lock:
            self._note(session, digest)

    def _note_refused(self, filed: Filed) -> None:
        """Remember a refusal, whether or not a call still waits to hear of it."""
        self._note(root_session(filed.request.caller), filed.request.digest)

    def _note(self, session: str, digest: str) -> None:
        refused = self._session(session).refused
        refused[digest] = None
        refused.move_to_end(digest)
        while len(refused) > self._bounds.refusals:
            refused.popitem(last=False)

    def _session(self, session: str) -> _Session:
        """Return what is known of a session tree, the longest unused one forgotten."""
        found = self._sessions.setdefault(session, _Session())
        self._sessions.move_to_end(session)
        while len(self._sessions) > self._bounds.sessions:
            self._sessions.popitem(last=False)
        return found

    async def give(self, grant: Grant) -> None:
        """Keep a standing approval; one of an id that is kept already stays as it is."""
        with self._lock:
            if grant.id in self._grants:
                return
            self._grants[grant.id] = grant
            self._last_used[grant.id] = None
            while len(self._grants) > self._bounds.grants:
                id, _ = self._last_used.popitem(last=False)
                del self._grants[id]

    async def grants(self, caller: str, *, now: datetime) -> tuple[Grant, ...]:
        """Return what still serves a caller, oldest first."""
        return tuple(one for one in await self.standing(now=now) if one.caller == caller)

    async def spend(self, ids: tuple[str, ...], *, now: datetime) -> bool:
        """Take one use of each of these grants, or of none where one of them no longer serves."""
        with self._lock:
            found = [self._grants.get(id) for id in dict.fromkeys(ids)]
            able = [grant for grant in found if grant is not None and grant.serves(now)]
            if len(able) != len(found):
                return False
            for grant in able:
                self._grants[grant.id] = grant.spent()
                self._last_used.move_to_end(grant.id)
            return True

    async def revoke(self, id: str) -> Grant | None:
        """Take a standing approval back; None if there is none."""
        with self._lock:
            self._last_used.pop(id, None)
            return self._grants.pop(id, None)

    async def standing(self, *, now: datetime) -> tuple[Grant, ...]:
        """Return everything that still serves somebody, oldest first."""
        with self._lock:
            return tuple(grant for grant in self._grants.values() if grant.serves(now))

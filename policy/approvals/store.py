"""The two protocols of a store of approvals (`Desk` and `Ledger`), its limits and its errors.

A `Ledger` keeps what the service looks up before it asks: how many requests a session has caused,
which calls were refused, which approvals still serve. A `Desk` keeps the requests.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from policy.approvals.entitlement import Person
from policy.approvals.filed import Ended, Filed
from policy.approvals.grant import Grant
from policy.approvals.request import ApprovalRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """How much a store keeps; beyond that, the least recently used is deleted first.

    Open requests are never deleted: if there are too many, a new one is refused, and its call is
    denied. `closed` requests are kept so that every call that waits learns how its request ended;
    far more of them are kept than can change between two polls. When a session, refusal or standing
    approval is deleted, people are asked again; no call runs because of it.
    """

    open: int = 10_000
    closed: int = 10_000
    sessions: int = 4_096
    refusals: int = 1_000
    grants: int = 10_000


class Desk(Protocol):
    """The requests that wait for people. Every method is atomic, also between processes.

    After its expiry a request is `expired`, unless it ended before.
    """

    async def file(self, request: ApprovalRequest, key: str, *, now: datetime) -> Filed:
        """Store a request, or return an open one with its key: pending, or approved and unused.

        An open one keeps its id, expiry and people. Raise NotFiled if it cannot be stored.
        """
        ...

    async def get(self, id: str, *, now: datetime) -> Filed | None:
        """Return one request."""
        ...

    async def open(self, *, now: datetime, session: str | None = None) -> tuple[Filed, ...]:
        """Return the pending requests, oldest first, of one session tree if one is named."""
        ...

    async def since(self, revision: int) -> tuple[Filed, ...]:
        """Return the requests that changed after `revision`, in that order."""
        ...

    async def revision(self) -> int:
        """Return the revision of the last change."""
        ...

    async def agree(self, id: str, person: Person, *, now: datetime) -> Filed:
        """Record that a person agrees; raise AnswerRefused if the answer cannot be taken.

        The request is `approved` once each of its opinions is answered by people entitled to it.
        """
        ...

    async def refuse(
        self, id: str, person: Person, *, now: datetime, message: str | None = None
    ) -> Filed:
        """Deny a request; raise AnswerRefused if it is not pending.

        A store that is also a `Ledger` records the refusal in the same transaction, because the
        call may no longer wait.
        """
        ...

    async def refuse_all(
        self, session: str, person: Person, *, now: datetime, message: str | None = None
    ) -> tuple[Filed, ...]:
        """Deny every pending request of a session tree at once; return them."""
        ...

    async def end(self, id: str, state: Ended, *, now: datetime) -> Filed | None:
        """End a request without a denial, and return it; None if it had ended.

        `used` ends an approved request, and succeeds for one caller only. The others end any open
        request, also an approved one that is not used yet.
        """
        ...


class Ledger(Protocol):
    """What the service remembers about sessions and callers. Every method is atomic."""

    async def count(self, session: str, *, limit: int) -> bool:
        """Count one more request of a session tree; False, and not counted, beyond `limit`."""
        ...

    async def refused(self, session: str, digest: str) -> bool:
        """Return whether this exact call was refused in this session tree."""
        ...

    async def note_refusal(self, session: str, digest: str, *, now: datetime) -> None:
        """Record that this exact call was refused in this session tree."""
        ...

    async def give(self, grant: Grant) -> None:
        """Store a standing approval; one that is stored under this id stays as it is."""
        ...

    async def grants(self, caller: str, *, now: datetime) -> tuple[Grant, ...]:
        """Return the approvals that still serve a caller, oldest first."""
        ...

    async def spend(self, ids: tuple[str, ...], *, now: datetime) -> bool:
        """Use each of these approvals once; none, and return False, if one no longer serves."""
        ...

    async def revoke(self, id: str) -> Grant | None:
        """Revoke a standing approval and return it; None if there is none."""
        ...

    async def standing(self, *, now: datetime) -> tuple[Grant, ...]:
        """Return all approvals that still serve a caller, oldest first."""
        ...


class NotFiled(Exception):
    """A request that cannot be stored: its id is taken, or too many are open."""


class StoreUnusable(Exception):
    """A store that cannot be read or written: another file, a newer version, damaged, full."""

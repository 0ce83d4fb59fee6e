"""The two protocols of a store of approvals (`Desk` and `Ledger`), its limits and its errors.

A `Ledger` keeps what the service looks up before it asks: how many questions a session has caused,
which calls were refused, which approvals still serve. A `Desk` keeps the questions themselves.
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

    Open questions are never deleted: if there are too many, a new one is not put, and its call is
    denied. `closed` questions are kept so that every call that waits learns how its question ended;
    there are far more of them than can change between two looks at a desk. When a session, refusal
    or standing approval is deleted, people are asked again; no call runs because of it.
    """

    open: int = 10_000
    closed: int = 10_000
    sessions: int = 4_096
    refusals: int = 1_000
    grants: int = 10_000


class Desk(Protocol):
    """The questions that wait for people. Every method is atomic, also between processes.

    After its expiry a question is `expired`, unless it ended before.
    """

    async def file(self, request: ApprovalRequest, key: str, *, now: datetime) -> Filed:
        """Put a question, or return an open one of the same key: pending, or approved and unused.

        An open one keeps its id, expiry and people. Raise NotFiled if the question cannot be put.
        """
        ...

    async def get(self, id: str, *, now: datetime) -> Filed | None:
        """Return one question."""
        ...

    async def open(self, *, now: datetime, session: str | None = None) -> tuple[Filed, ...]:
        """Return the pending questions, oldest first, of one session tree if one is named."""
        ...

    async def since(self, revision: int) -> tuple[Filed, ...]:
        """Return the questions that changed after `revision`, in that order."""
        ...

    async def revision(self) -> int:
        """Return the revision of the last change."""
        ...

    async def agree(self, id: str, person: Person, *, now: datetime) -> Filed:
        """Record that a person agrees; raise AnswerRefused if the answer cannot be taken.

        The question is `approved` once people entitled to them have answered all of its opinions.
        """
        ...

    async def refuse(
        self, id: str, person: Person, *, now: datetime, message: str | None = None
    ) -> Filed:
        """Deny a question; raise AnswerRefused if it is not pending.

        A store that is also a `Ledger` records the refusal in the same transaction, as the call may
        not wait any more.
        """
        ...

    async def refuse_all(
        self, session: str, person: Person, *, now: datetime, message: str | None = None
    ) -> tuple[Filed, ...]:
        """Deny every pending question of a session tree at once; return them."""
        ...

    async def end(self, id: str, state: Ended, *, now: datetime) -> Filed | None:
        """End a question without a denial, and return it; None if it had ended.

        `used` ends an approved question, and succeeds for one caller only. The others end any open
        question, also an approved one that is not used yet.
        """
        ...


class Ledger(Protocol):
    """What the service remembers of sessions and callers. Every method is atomic."""

    async def count(self, session: str, *, limit: int) -> bool:
        """Count one more question of a session tree; False, and not counted, beyond `limit`."""
        ...

    async def refused(self, session: str, digest: str) -> bool:
        """Tell whether this exact call was refused in this session tree."""
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
    """A question that cannot be put: its id is taken, or too many are open."""


class StoreUnusable(Exception):
    """A store that cannot be read or written: not a store, a newer version, damaged, full."""

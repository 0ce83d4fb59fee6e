"""The two protocols of a store of approvals, its limits and its errors.

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
    """How much a store keeps; beyond it the longest unused is forgotten first.

    Open questions are never forgotten: where there are too many, one more is not put, and its call
    is denied. `closed` are kept so that everybody who waits learns how a question ended, and far
    outnumber what can change between two looks at a desk. A session that is forgotten starts anew,
    which costs people questions and never lets a call through; so does a refusal, or a grant.
    """

    open: int = 10_000
    closed: int = 10_000
    sessions: int = 4_096
    refusals: int = 1_000
    grants: int = 10_000


class Desk(Protocol):
    """The questions that wait for people. Every method is atomic, across processes too.

    Whoever looks at a question after it expires finds it `expired`, unless it was closed before.
    """

    async def file(self, request: ApprovalRequest, key: str, *, now: datetime) -> Filed:
        """Put a question; one of the same key that is open, or approved and unused, is taken up.

        Taken up, it keeps its id, its expiry and its people. Raise NotFiled where it cannot be put.
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
        """Return the number of the last change."""
        ...

    async def agree(self, id: str, person: Person, *, now: datetime) -> Filed:
        """Note that somebody agrees; raise AnswerRefused where the answer cannot be taken.

        The question is `approved` once everything that asks has been answered by people entitled
        to it.
        """
        ...

    async def refuse(
        self, id: str, person: Person, *, now: datetime, message: str | None = None
    ) -> Filed:
        """Deny a question; raise AnswerRefused where it is not pending any more.

        A store that is a `Ledger` too notes the refusal in the same step: its call may be gone.
        """
        ...

    async def refuse_all(
        self, session: str, person: Person, *, now: datetime, message: str | None = None
    ) -> tuple[Filed, ...]:
        """Deny every pending question of a session tree at once; return them."""
        ...

    async def end(self, id: str, state: Ended, *, now: datetime) -> Filed | None:
        """End a question otherwise, and return it; None where it had ended already.

        `used` ends one that is approved, and exactly one of all who try is returned it. The others
        end whatever is open, an approval that nobody took included.
        """
        ...


class Ledger(Protocol):
    """What asking must remember of sessions and callers. Every method is atomic."""

    async def count(self, session: str, *, limit: int) -> bool:
        """Count one more question of a session tree; False, and not counted, beyond `limit`."""
        ...

    async def refused(self, session: str, digest: str) -> bool:
        """Tell whether this very call was refused in this session tree."""
        ...

    async def note_refusal(self, session: str, digest: str, *, now: datetime) -> None:
        """Remember that this very call was refused in this session tree."""
        ...

    async def give(self, grant: Grant) -> None:
        """Keep a standing approval; one of an id that is kept already stays as it is."""
        ...

    async def grants(self, caller: str, *, now: datetime) -> tuple[Grant, ...]:
        """Return what still serves a caller, oldest first."""
        ...

    async def spend(self, ids: tuple[str, ...], *, now: datetime) -> bool:
        """Take one use of each of these grants, or of none where one of them no longer serves."""
        ...

    async def revoke(self, id: str) -> Grant | None:
        """Take a standing approval back; None if there is none."""
        ...

    async def standing(self, *, now: datetime) -> tuple[Grant, ...]:
        """Return everything that still serves somebody, oldest first."""
        ...


class NotFiled(Exception):
    """A question that cannot be put: its id is taken, or too many are open."""


class StoreUnusable(Exception):
    """Approvals that cannot be read or kept: no such store, of a newer version, damaged, full."""

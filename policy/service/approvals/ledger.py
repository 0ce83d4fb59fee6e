"""What is known of the questions of each session: how many, what was refused, what still serves.

Two protocols, so that memory, SQLite or another store can hold them: `Ledger` is what asking reads
before it puts a question, `Desk` holds the questions themselves while people think.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol, TypeAlias

from policy.service.approvals.grant import Grant
from policy.service.approvals.person import Person
from policy.service.approvals.request import ApprovalRequest

State: TypeAlias = Literal["pending", "approved", "denied", "cancelled", "expired", "used"]
"""`used`: approved, and the call that asked took the answer. Only `pending` can be answered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filed:
    """One question on the desk, and its answers so far.

    `people` have agreed. A denial is final: `denied_by` and its `message`. `revision` grows with
    every change on the desk.
    """

    request: ApprovalRequest
    key: str
    state: State = "pending"
    people: tuple[Person, ...] = ()
    denied_by: str | None = None
    message: str | None = None
    revision: int = 0


class Desk(Protocol):
    """The questions that wait for people. Every method is atomic, across processes too."""

    async def file(self, request: ApprovalRequest, key: str, *, now: datetime) -> Filed:
        """Put a question; one of the same key that is open, or approved and unused, is taken up."""
        ...

    async def get(self, id: str) -> Filed | None:
        """Return one question."""
        ...

    async def open(self, *, now: datetime, session: str | None = None) -> tuple[Filed, ...]:
        """Return the pending questions, oldest first, of one session tree if one is named."""
        ...

    async def since(self, revision: int) -> tuple[Filed, ...]:
        """Return the questions that changed after `revision`, in that order."""
        ...

    async def agree(self, id: str, person: Person, *, now: datetime) -> Filed:
        """Note that somebody agrees; raise AnswerRefused where it is not pending any more.

        The question is `approved` once everything that asks has been answered by people entitled
        to it.
        """
        ...

    async def refuse(
        self, id: str, person: Person, *, now: datetime, message: str | None = None
    ) -> Filed:
        """Deny a question; raise AnswerRefused where it is not pending any more."""
        ...

    async def close(self, id: str, state: State, *, now: datetime) -> Filed | None:
        """End a question otherwise; one that is not pending (`used`: approved) stays as it is."""
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
        """Keep a standing approval."""
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


class AnswerRefused(Exception):
    """An answer that cannot be taken: the question is gone, or the person is not entitled."""


# Who a person's groups are asked of, by a stable identity.
Groups: TypeAlias = Mapping[str, tuple[str, ...]]

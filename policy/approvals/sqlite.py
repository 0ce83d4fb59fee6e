"""Questions and standing approvals in one SQLite file: they outlive the process that put them."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from policy.approvals import ledger_rows, question_rows
from policy.approvals.binding import root_session
from policy.approvals.codec import NotDecodable, NotEncodable
from policy.approvals.database import Database
from policy.approvals.grant import Grant
from policy.approvals.ledger import Bounds, Ended, Filed, StoreUnusable
from policy.approvals.person import Person
from policy.approvals.request import ApprovalRequest
from policy.approvals.transitions import agreed, as_of, denied


class SqliteApprovals:
    """A `Desk` and a `Ledger` in the file at `path`, which several processes may use at once.

    The file, and a folder that has to be made for it, are for their owner only: whoever can write
    there can approve. It is opened at once, and raises StoreUnusable where that cannot be.
    """

    def __init__(self, path: str | os.PathLike[str], *, bounds: Bounds | None = None) -> None:
        self._bounds = bounds or Bounds()
        self._database = Database(path)

    @property
    def path(self) -> Path:
        """The file."""
        return self._database.path

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._database.aclose()

    # ---- the desk

    async def file(self, request: ApprovalRequest, key: str, *, now: datetime) -> Filed:
        """Put a question; one of the same key that is open, or approved and unused, is taken up."""
        with _readable():
            return await self._database.write(
                question_rows.put, request, key, now=now, bounds=self._bounds
            )

    async def get(self, id: str, *, now: datetime) -> Filed | None:
        """Return one question; raise StoreUnusable where it cannot be read."""
        with _readable():
            found = await self._database.read(question_rows.find, id)
        return None if found is None else as_of(found, now)

    async def open(self, *, now: datetime, session: str | None = None) -> tuple[Filed, ...]:
        """Return the pending questions, oldest first, of one session tree if one is named."""
        return await self._database.read(question_rows.pending, session, now=now)

    async def since(self, revision: int) -> tuple[Filed, ...]:
        """Return the questions that changed after `revision`, in that order."""
        return await self._database.read(question_rows.changed, revision)

    async def revision(self) -> int:
        """Return the number of the last change."""
        return await self._database.read(question_rows.last_change)

    async def agree(self, id: str, person: Person, *, now: datetime) -> Filed:
        """Note that somebody agrees; raise AnswerRefused where the answer cannot be taken."""
        return await self._answer(id, lambda filed: agreed(filed, person), now)

    async def refuse(
        self, id: str, person: Person, *, now: datetime, message: str | None = None
    ) -> Filed:
        """Deny a question; raise AnswerRefused where it is not pending any more."""
        with _readable():
            return await self._database.write(
                _refuse, id, lambda filed: denied(filed, person, message), now=now, by=self._bounds
            )

    async def refuse_all(
        self, session: str, person: Person, *, now: datetime, message: str | None = None
    ) -> tuple[Filed, ...]:
        """Deny every pending question of a session tree at once; return them."""
        return await self._database.write(
            _refuse_all, session, person, now=now, message=message, by=self._bounds
        )

    async def end(self, id: str, state: Ended, *, now: datetime) -> Filed | None:
        """End a question otherwise, and return it; None where it had ended already."""
        with _readable():
            return await self._database.write(question_rows.end, id, state, now=now)

    async def _answer(self, id: str, change: Callable[[Filed], Filed], now: datetime) -> Filed:
        with _readable():
            return await self._database.write(question_rows.change, id, change, now=now)

    # ---- the ledger

    async def count(self, session: str, *, limit: int) -> bool:
        """Count one more question of a session tree; False, and not counted, beyond `limit`."""
        return await self._database.write(
            ledger_rows.count, session, limit=limit, kept=self._bounds.sessions
        )

    async def recount(self, session: str) -> None:
        """Begin to count the questions of a session tree anew: whoever asks begins anew."""
        await self._database.write(ledger_rows.recount, session)

    async def refused(self, session: str, digest: str) -> bool:
        """Tell whether this very call was refused in this session tree."""
        return await self._database.read(ledger_rows.is_refused, session, digest)

    async def note_refusal(self, session: str, digest: str, *, now: datetime) -> None:
        """Remember that this very call was refused in this session tree."""
        await self._database.write(
            ledger_rows.note_refusal,
            session,
            digest,
            kept=self._bounds.sessions,
            most=self._bounds.refusals,
        )

    async def give(self, grant: Grant) -> None:
        """Keep a standing approval; one of an id that is kept already stays as it is."""
        with _readable():
            await self._database.write(ledger_rows.give, grant, kept=self._bounds.grants)

    async def grants(self, caller: str, *, now: datetime) -> tuple[Grant, ...]:
        """Return what still serves a caller, oldest first."""
        return await self._database.read(ledger_rows.grants, caller, now=now)

    async def spend(self, ids: tuple[str, ...], *, now: datetime) -> bool:
        """Take one use of each of these grants, or of none where one of them no longer serves."""
        return await self._database.write(ledger_rows.spend, ids, now=now)

    async def revoke(self, id: str) -> Grant | None:
        """Take a standing approval back; None if there is none."""
        return await self._database.write(ledger_rows.revoke, id)

    async def standing(self, *, now: datetime) -> tuple[Grant, ...]:
        """Return everything that still serves somebody, oldest first."""
        return await self._database.read(ledger_rows.grants, None, now=now)


def _refuse(
    connection: sqlite3.Connection,
    id: str,
    change: Callable[[Filed], Filed],
    *,
    now: datetime,
    by: Bounds,
) -> Filed:
    """Deny one question, and remember that, whether or not a call still waits to hear of it."""
    refused = question_rows.change(connection, id, change, now=now)
    _note_refused(connection, refused, by)
    return refused


def _refuse_all(
    connection: sqlite3.Connection,
    session: str,
    person: Person,
    *,
    now: datetime,
    message: str | None,
    by: Bounds,
) -> tuple[Filed, ...]:
    """Deny the pending questions of a session tree, and remember each."""
    refused = question_rows.refuse_all(connection, session, person, now=now, message=message)
    for filed in refused:
        _note_refused(connection, filed, by)
    return refused


def _note_refused(connection: sqlite3.Connection, filed: Filed, by: Bounds) -> None:
    session, call = root_session(filed.request.caller), filed.request.digest
    ledger_rows.note_refusal(connection, session, call, kept=by.sessions, most=by.refusals)


@contextmanager
def _readable() -> Iterator[None]:
    """Tell of a record that cannot be read or written as of a store that is of no use for it."""
    try:
        yield
    except (NotDecodable, NotEncodable) as error:
        raise StoreUnusable(str(error)) from error

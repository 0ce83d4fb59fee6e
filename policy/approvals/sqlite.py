"""`SqliteApprovals`: the store of approval requests, refusals and standing approvals."""

from __future__ import annotations

import os
import warnings
from datetime import datetime
from pathlib import Path
from sqlite3 import Connection
from types import TracebackType
from typing import Self

from policy.approvals import ledger_rows, request_rows
from policy.approvals.binding import root_session
from policy.approvals.database import MEMORY, Database
from policy.approvals.entitlement import GroupsOf, Person
from policy.approvals.filed import Ended, Filed, agreed, as_of, denied, ended
from policy.approvals.grant import Grant
from policy.approvals.request import ApprovalRequest
from policy.approvals.store import Bounds


class SqliteApprovals:
    """A `Desk` and a `Ledger` in the file at `path`, which several processes may use at once.

    The file, and a folder created for it, are for their owner only: anyone who can write there can
    approve. `:memory:` is a store without a file, which ends with this object. Raises StoreUnusable
    if the store cannot be opened.
    """

    def __init__(self, path: str | os.PathLike[str], *, bounds: Bounds | None = None) -> None:
        self._bounds = bounds or Bounds()
        self._database = Database(path)

    @property
    def path(self) -> Path | None:
        """The file, None in memory."""
        return self._database.path

    def close(self) -> None:
        """Close the store."""
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

    # ---- approval requests (`Desk`)
    async def file(self, request: ApprovalRequest, key: str, *, now: datetime) -> Filed:
        """Store a request, or return an open one with the same key."""
        return await self._database.write(
            lambda db: request_rows.put(db, request, key, now=now, bounds=self._bounds)
        )

    async def get(self, id: str, *, now: datetime) -> Filed | None:
        """Return one request; raise StoreUnusable where it cannot be read."""
        found = await self._database.read(lambda db: request_rows.find(db, id))
        return None if found is None else as_of(found, now)

    async def open(self, *, now: datetime, session: str | None = None) -> tuple[Filed, ...]:
        """Return the pending requests, oldest first, of one session tree if one is named."""
        return await self._database.read(lambda db: request_rows.pending(db, session, now=now))

    async def since(self, revision: int) -> tuple[Filed, ...]:
        """Return the requests that changed after `revision`, in that order."""
        return await self._database.read(lambda db: request_rows.changed(db, revision))

    async def revision(self) -> int:
        """Return the revision of the last change."""
        return await self._database.read(request_rows.last_revision)

    async def agree(
        self, id: str, person: Person, *, now: datetime, groups_of: GroupsOf | None = None
    ) -> Filed:
        """Record that a person agrees; raise AnswerRefused if the answer cannot be taken.

        With `groups_of`, those who agreed before count by the groups that they belong to now.
        """

        def agree(filed: Filed) -> Filed:
            return agreed(filed, person, groups_of=groups_of)

        return await self._database.write(lambda db: request_rows.answer(db, id, agree, now=now))

    async def refuse(
        self, id: str, person: Person, *, now: datetime, message: str | None = None
    ) -> Filed:
        """Deny a request; raise AnswerRefused if it is not pending."""

        def deny(filed: Filed) -> Filed:
            return denied(filed, person, message)

        def refuse(db: Connection) -> Filed:
            refused = request_rows.answer(db, id, deny, now=now)
            self._note_refused(db, refused)
            return refused

        return await self._database.write(refuse)

    async def refuse_all(
        self, session: str, person: Person, *, now: datetime, message: str | None = None
    ) -> tuple[Filed, ...]:
        """Deny every pending request of a session tree at once; return them."""

        def refuse(db: Connection) -> tuple[Filed, ...]:
            found = request_rows.pending(db, session, now=now)
            refused = tuple(
                request_rows.keep(db, denied(filed, person, message)) for filed in found
            )
            for filed in refused:
                self._note_refused(db, filed)
            return refused

        return await self._database.write(refuse)

    async def end(self, id: str, state: Ended, *, now: datetime) -> Filed | None:
        """End a request without a denial, and return it; None if it had ended."""

        def end(db: Connection) -> Filed | None:
            filed = request_rows.find(db, id)
            if filed is None:
                return None
            closed = ended(request_rows.as_it_stands(db, filed, now), state)
            return None if closed is None else request_rows.keep(db, closed)

        return await self._database.write(end)

    # ---- sessions, refusals and standing approvals (`Ledger`)
    async def count(self, session: str, *, limit: int) -> bool:
        """Count one more request of a session tree; False, and not counted, beyond `limit`."""
        return await self._database.write(
            lambda db: ledger_rows.count(db, session, limit=limit, bounds=self._bounds)
        )

    async def recount(self, session: str) -> None:
        """Set the count of a session tree to zero, as when a server starts again."""
        await self._database.write(lambda db: ledger_rows.recount(db, session))

    async def refused(self, session: str, digest: str) -> bool:
        """Return whether this exact call was refused in this session tree."""
        return await self._database.read(lambda db: ledger_rows.is_refused(db, session, digest))

    async def note_refusal(self, session: str, digest: str, *, now: datetime) -> None:
        """Record that this exact call was refused in this session tree."""
        await self._database.write(
            lambda db: ledger_rows.note_refusal(db, session, digest, bounds=self._bounds)
        )

    async def give(self, grant: Grant) -> None:
        """Store a standing approval; one that is stored under this id stays as it is."""
        await self._database.write(lambda db: ledger_rows.give(db, grant, bounds=self._bounds))

    async def grants(self, caller: str, *, now: datetime) -> tuple[Grant, ...]:
        """Return the approvals that still serve a caller, oldest first."""
        return await self._database.read(lambda db: ledger_rows.grants(db, caller, now=now))

    async def spend(self, ids: tuple[str, ...], *, now: datetime) -> bool:
        """Use each of these approvals once; none, and return False, if one no longer serves."""
        return await self._database.write(lambda db: ledger_rows.spend(db, ids, now=now))

    async def revoke(self, id: str) -> Grant | None:
        """Revoke a standing approval and return it; None if there is none."""
        return await self._database.write(lambda db: ledger_rows.revoke(db, id))

    async def standing(self, *, now: datetime) -> tuple[Grant, ...]:
        """Return all approvals that still serve a caller, oldest first."""
        return await self._database.read(lambda db: ledger_rows.grants(db, None, now=now))

    def _note_refused(self, db: Connection, filed: Filed) -> None:
        """Store a refusal, whether or not a call still waits for the answer."""
        session, call = root_session(filed.request.caller), filed.request.digest
        ledger_rows.note_refusal(db, session, call, bounds=self._bounds)


class MemoryApprovals(SqliteApprovals):
    """The former name of `SqliteApprovals(":memory:")`."""

    def __init__(self, *, bounds: Bounds | None = None) -> None:
        warnings.warn(
            '`MemoryApprovals()` is now `SqliteApprovals(":memory:")`; '
            "the old name will be removed in the next release",
            DeprecationWarning,
            stacklevel=2,
        )
        super().__init__(MEMORY, bounds=bounds)

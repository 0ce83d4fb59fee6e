"""Which calls in the history of sessions an agent's hooks still have to tell the end of.

A hook is a process, and its daemon may end between a call and its end, so they are kept in a file.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import time
from collections.abc import Sequence
from pathlib import Path

from policy.model import Caller
from policy.runtime import FileFormat, open_database

_FORMAT = FileFormat(
    application=0x706C6870,  # "plhp"
    version=1,
    tables=(
        """CREATE TABLE pending (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            call TEXT NOT NULL,
            releases TEXT NOT NULL,
            at REAL NOT NULL
        )""",
        "CREATE INDEX pending_call ON pending (call)",
    ),
)
_BUSY_SECONDS = 2.0
# Nobody waits that long for a call; whatever came of it stays unknown.
_LONGEST = 7 * 24 * 3600.0


class PendingCalls:
    """The releases of calls, by what names a call in its session, in the file at `path`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._db: sqlite3.Connection | None = None

    def add(self, caller: Caller, calls: Sequence[str], releases: Sequence[int]) -> None:
        """Add a call by each of its names, which went on as these releases.

        Raises DatabaseUnusable and sqlite3.Error.
        """
        now = time.time()
        # A statement is a transaction: nothing is lost if the process ends between them.
        self._opened().execute("DELETE FROM pending WHERE at < ?", (now - _LONGEST,))
        self._opened().executemany(
            "INSERT INTO pending (call, releases, at) VALUES (?, ?, ?)",
            [(_key(caller, call), json.dumps(list(releases)), now) for call in calls],
        )

    def take(self, caller: Caller, call: str) -> list[int]:
        """Return the releases of a call and forget it; none if it is not known.

        Of equal calls without an id, the one that began first. Raises as `add` does.
        """
        found = self._opened().execute(
            "DELETE FROM pending WHERE releases = "
            "(SELECT releases FROM pending WHERE call = ? ORDER BY id LIMIT 1) RETURNING releases",
            (_key(caller, call),),
        )
        rows = found.fetchall()
        return list(json.loads(rows[0][0])) if rows else []

    def _opened(self) -> sqlite3.Connection:
        if self._db is None:
            self._db = open_database(self._path, _FORMAT, busy_seconds=_BUSY_SECONDS)
            self._db.execute("PRAGMA synchronous=NORMAL")
        return self._db


def _key(caller: Caller, call: str) -> str:
    sessions = [(each.user, each.session) for each in caller.chain()]
    return hashlib.sha256(json.dumps([sessions, call]).encode()).hexdigest()

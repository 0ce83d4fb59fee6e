"""Sessions and standing approvals in the rows of a database, within one transaction.

A standing approval that cannot be read serves nobody.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

from policy.approvals.codec import NotDecodable, decode, encode
from policy.approvals.grant import Grant
from policy.approvals.question_rows import digest
from policy.approvals.spending import serves, spent

_LOG = logging.getLogger("policy.approvals")
# What a file holds may be anything.
_Row = tuple[Any, ...]
_SELECT_ONE = "SELECT id, caller, document, seal FROM standing WHERE id = ?"
_SELECT_OF_CALLER = """
    SELECT id, caller, document, seal FROM standing
    WHERE ?1 IS NULL OR caller = ?1 ORDER BY number"""


def count(connection: sqlite3.Connection, session: str, *, limit: int, kept: int) -> bool:
    """Count one more question of a session tree, within its limit."""
    id = _touched(connection, session, kept=kept)
    done = connection.execute(
        "UPDATE session SET asked = asked + 1 WHERE id = ? AND asked < ?", (id, limit)
    )
    return done.rowcount == 1


def recount(connection: sqlite3.Connection, session: str) -> None:
    """Begin to count the questions of a session tree anew."""
    connection.execute("UPDATE session SET asked = 0 WHERE id = ?", (digest(session),))


def is_refused(connection: sqlite3.Connection, session: str, call: str) -> bool:
    """Tell whether a call was refused in a session tree."""
    found = connection.execute(
        "SELECT 1 FROM refusal WHERE session = ? AND digest = ?", (digest(session), digest(call))
    )
    return found.fetchone() is not None


def note_refusal(
    connection: sqlite3.Connection, session: str, call: str, *, kept: int, most: int
) -> None:
    """Remember that a call was refused in a session tree, and `most` such calls."""
    id = _touched(connection, session, kept=kept)
    connection.execute(
        "INSERT OR REPLACE INTO refusal (session, digest) VALUES (?, ?)", (id, digest(call))
    )
    connection.execute(
        """DELETE FROM refusal WHERE session = ? AND number <= (
            SELECT number FROM refusal WHERE session = ? ORDER BY number DESC LIMIT 1 OFFSET ?
        )""",
        (id, id, most),
    )


def _touched(connection: sqlite3.Connection, session: str, *, kept: int) -> str:
    """Return the id of a session that is the last used now, the longest unused forgotten."""
    id = digest(session)
    connection.execute("INSERT OR IGNORE INTO session VALUES (?, 0, 0)", (id,))
    connection.execute(
        "UPDATE session SET used = (SELECT MAX(used) + 1 FROM session) WHERE id = ?", (id,)
    )
    forgotten = connection.execute(
        "SELECT id FROM session ORDER BY used DESC LIMIT -1 OFFSET ?", (kept,)
    ).fetchall()
    connection.executemany("DELETE FROM refusal WHERE session = ?", forgotten)
    connection.executemany("DELETE FROM session WHERE id = ?", forgotten)
    return id


# ---- standing approvals


def give(connection: sqlite3.Connection, grant: Grant, *, kept: int) -> None:
    """Keep a standing approval that is not there yet."""
    id, caller, document, seal = _row(grant)
    connection.execute(
        """INSERT OR IGNORE INTO standing (id, caller, used, document, seal)
        VALUES (?, ?, (SELECT COALESCE(MAX(used), 0) + 1 FROM standing), ?, ?)""",
        (id, caller, document, seal),
    )
    connection.execute(
        """DELETE FROM standing WHERE used <= (
            SELECT used FROM standing ORDER BY used DESC LIMIT 1 OFFSET ?
        )""",
        (kept,),
    )


def grants(
    connection: sqlite3.Connection, caller: str | None, *, now: datetime
) -> tuple[Grant, ...]:
    """Return what still serves a caller, or anybody, oldest first."""
    served = None if caller is None else digest(caller)
    rows = connection.execute(_SELECT_OF_CALLER, (served,)).fetchall()
    return tuple(grant for grant in _readable(rows) if serves(grant, now))


def spend(connection: sqlite3.Connection, ids: tuple[str, ...], *, now: datetime) -> bool:
    """Take one use of each, or of none."""
    wanted = tuple(dict.fromkeys(ids))
    found = [grant for id in wanted if (grant := _find(connection, id)) and serves(grant, now)]
    if len(found) != len(wanted):
        return False
    for grant in found:
        id, _, document, seal = _row(spent(grant))
        connection.execute(
            """UPDATE standing SET document = ?, seal = ?,
            used = (SELECT MAX(used) + 1 FROM standing) WHERE id = ?""",
            (document, seal, id),
        )
    return True


def revoke(connection: sqlite3.Connection, id: str) -> Grant | None:
    """Take a standing approval back, one that cannot be read too."""
    found = _find(connection, id)
    connection.execute("DELETE FROM standing WHERE id = ?", (digest(id),))
    return found


def _find(connection: sqlite3.Connection, id: str) -> Grant | None:
    return next(_readable(connection.execute(_SELECT_ONE, (digest(id),)).fetchall()), None)


def _row(grant: Grant) -> _Row:
    document = encode(grant)
    return digest(grant.id), digest(grant.caller), document, digest(document)


def _readable(rows: Iterable[_Row]) -> Iterator[Grant]:
    for row in rows:
        try:
            yield _read(row)
        except NotDecodable as error:
            _LOG.warning("a standing approval is passed over: %s", error)


def _read(row: _Row) -> Grant:
    id, caller, document, seal = row
    if not isinstance(document, str) or digest(document) != seal:
        raise NotDecodable("this approval is damaged")
    grant = decode(Grant, document)
    if (digest(grant.id), digest(grant.caller)) != (id, caller):
        raise NotDecodable("this approval is damaged")
    return grant

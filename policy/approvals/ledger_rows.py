"""Sessions, refusals and standing approvals as rows of a database, within one transaction.

A standing approval that cannot be read serves nobody.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from datetime import datetime
from sqlite3 import Connection
from typing import Any

from policy.approvals.documents import NotDecodable, digest, sealed, unsealed
from policy.approvals.grant import Grant
from policy.approvals.store import Bounds

_LOG = logging.getLogger("policy.approvals")
_SELECT = "SELECT id, caller, document, seal FROM standing WHERE "


def count(db: Connection, session: str, *, limit: int, bounds: Bounds) -> bool:
    """Count one more request of a session tree, within its limit."""
    id = _mark_used(db, session, bounds)
    done = db.execute(
        "UPDATE session SET asked = asked + 1 WHERE id = ? AND asked < ?", (id, limit)
    )
    return done.rowcount == 1


def recount(db: Connection, session: str) -> None:
    """Set the count of a session tree to zero."""
    db.execute("UPDATE session SET asked = 0 WHERE id = ?", (digest(session),))


def is_refused(db: Connection, session: str, call: str) -> bool:
    """Return whether a call was refused in a session tree."""
    found = db.execute(
        "SELECT 1 FROM refusal WHERE session = ? AND digest = ?", (digest(session), digest(call))
    )
    return found.fetchone() is not None


def note_refusal(db: Connection, session: str, call: str, *, bounds: Bounds) -> None:
    """Store that a call was refused in a session tree; delete the oldest beyond the bounds."""
    id = _mark_used(db, session, bounds)
    db.execute("INSERT OR REPLACE INTO refusal (session, digest) VALUES (?, ?)", (id, digest(call)))
    db.execute(
        """DELETE FROM refusal WHERE session = ?1 AND number <= (
            SELECT number FROM refusal WHERE session = ?1 ORDER BY number DESC LIMIT 1 OFFSET ?2
        )""",
        (id, bounds.refusals),
    )


def _mark_used(db: Connection, session: str, bounds: Bounds) -> str:
    """Mark a session as the last used, delete the least recently used, and return its id."""
    id = digest(session)
    db.execute("INSERT OR IGNORE INTO session VALUES (?, 0, 0)", (id,))
    db.execute("UPDATE session SET used = (SELECT MAX(used) + 1 FROM session) WHERE id = ?", (id,))
    forgotten = db.execute(
        "SELECT id FROM session ORDER BY used DESC LIMIT -1 OFFSET ?", (bounds.sessions,)
    ).fetchall()
    db.executemany("DELETE FROM refusal WHERE session = ?", forgotten)
    db.executemany("DELETE FROM session WHERE id = ?", forgotten)
    return id


# ---- standing approvals


def give(db: Connection, grant: Grant, *, bounds: Bounds) -> None:
    """Insert a standing approval unless it is there; delete the least recently used."""
    db.execute(
        """INSERT OR IGNORE INTO standing (id, caller, used, document, seal)
        VALUES (?, ?, (SELECT COALESCE(MAX(used), 0) + 1 FROM standing), ?, ?)""",
        (digest(grant.id), digest(grant.caller), *sealed(grant)),
    )
    db.execute(
        """DELETE FROM standing WHERE used <= (
            SELECT used FROM standing ORDER BY used DESC LIMIT 1 OFFSET ?
        )""",
        (bounds.grants,),
    )


def grants(db: Connection, caller: str | None, *, now: datetime) -> tuple[Grant, ...]:
    """Return the approvals that still serve a caller, or any caller, oldest first."""
    of = None if caller is None else digest(caller)
    found = _found(db, "?1 IS NULL OR caller = ?1 ORDER BY number", of)
    return tuple(grant for grant in found if grant.serves(now))


def spend(db: Connection, ids: tuple[str, ...], *, now: datetime) -> bool:
    """Use each of these approvals once; none, and return False, if one no longer serves."""
    wanted = dict.fromkeys(ids)
    found = [grant for id in wanted if (grant := _find(db, id)) and grant.serves(now)]
    if len(found) != len(wanted):
        return False
    for grant in found:
        db.execute(
            """UPDATE standing SET document = ?, seal = ?,
            used = (SELECT MAX(used) + 1 FROM standing) WHERE id = ?""",
            (*sealed(grant.spent()), digest(grant.id)),
        )
    return True


def revoke(db: Connection, id: str) -> Grant | None:
    """Delete a standing approval, even one that cannot be read."""
    found = _find(db, id)
    db.execute("DELETE FROM standing WHERE id = ?", (digest(id),))
    return found


def _find(db: Connection, id: str) -> Grant | None:
    return next(_found(db, "id = ?", digest(id)), None)


def _found(db: Connection, where: str, *values: Any) -> Iterator[Grant]:
    for id, caller, document, seal in db.execute(_SELECT + where, values).fetchall():
        try:
            grant = unsealed(Grant, document, seal)
            if (digest(grant.id), digest(grant.caller)) != (id, caller):
                raise NotDecodable("this approval is damaged")
        except NotDecodable as error:
            _LOG.warning("a standing approval is ignored: %s", error)
        else:
            yield grant

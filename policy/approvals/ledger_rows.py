"""Sessions and standing approvals in the rows of a database, within one transaction.

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


def count(file: Connection, session: str, *, limit: int, bounds: Bounds) -> bool:
    """Count one more question of a session tree, within its limit."""
    id = _touched(file, session, bounds)
    done = file.execute(
        "UPDATE session SET asked = asked + 1 WHERE id = ? AND asked < ?", (id, limit)
    )
    return done.rowcount == 1


def recount(file: Connection, session: str) -> None:
    """Begin to count the questions of a session tree anew."""
    file.execute("UPDATE session SET asked = 0 WHERE id = ?", (digest(session),))


def is_refused(file: Connection, session: str, call: str) -> bool:
    """Tell whether a call was refused in a session tree."""
    found = file.execute(
        "SELECT 1 FROM refusal WHERE session = ? AND digest = ?", (digest(session), digest(call))
    )
    return found.fetchone() is not None


def note_refusal(file: Connection, session: str, call: str, *, bounds: Bounds) -> None:
    """Remember that a call was refused in a session tree; the oldest beyond bounds is forgotten."""
    id = _touched(file, session, bounds)
    file.execute(
        "INSERT OR REPLACE INTO refusal (session, digest) VALUES (?, ?)", (id, digest(call))
    )
    file.execute(
        """DELETE FROM refusal WHERE session = ?1 AND number <= (
            SELECT number FROM refusal WHERE session = ?1 ORDER BY number DESC LIMIT 1 OFFSET ?2
        )""",
        (id, bounds.refusals),
    )


def _touched(file: Connection, session: str, bounds: Bounds) -> str:
    """Return the id of a session, used last from now on; the longest unused is forgotten."""
    id = digest(session)
    file.execute("INSERT OR IGNORE INTO session VALUES (?, 0, 0)", (id,))
    file.execute(
        "UPDATE session SET used = (SELECT MAX(used) + 1 FROM session) WHERE id = ?", (id,)
    )
    forgotten = file.execute(
        "SELECT id FROM session ORDER BY used DESC LIMIT -1 OFFSET ?", (bounds.sessions,)
    ).fetchall()
    file.executemany("DELETE FROM refusal WHERE session = ?", forgotten)
    file.executemany("DELETE FROM session WHERE id = ?", forgotten)
    return id


# ---- standing approvals


def give(file: Connection, grant: Grant, *, bounds: Bounds) -> None:
    """Keep a standing approval that is not there yet; the longest unused is forgotten."""
    file.execute(
        """INSERT OR IGNORE INTO standing (id, caller, used, document, seal)
        VALUES (?, ?, (SELECT COALESCE(MAX(used), 0) + 1 FROM standing), ?, ?)""",
        (digest(grant.id), digest(grant.caller), *sealed(grant)),
    )
    file.execute(
        """DELETE FROM standing WHERE used <= (
            SELECT used FROM standing ORDER BY used DESC LIMIT 1 OFFSET ?
        )""",
        (bounds.grants,),
    )


def grants(file: Connection, caller: str | None, *, now: datetime) -> tuple[Grant, ...]:
    """Return what still serves a caller, or anybody, oldest first."""
    of = None if caller is None else digest(caller)
    found = _found(file, "?1 IS NULL OR caller = ?1 ORDER BY number", of)
    return tuple(grant for grant in found if grant.serves(now))


def spend(file: Connection, ids: tuple[str, ...], *, now: datetime) -> bool:
    """Take one use of each, or of none."""
    wanted = dict.fromkeys(ids)
    found = [grant for id in wanted if (grant := _find(file, id)) and grant.serves(now)]
    if len(found) != len(wanted):
        return False
    for grant in found:
        file.execute(
            """UPDATE standing SET document = ?, seal = ?,
            used = (SELECT MAX(used) + 1 FROM standing) WHERE id = ?""",
            (*sealed(grant.spent()), digest(grant.id)),
        )
    return True


def revoke(file: Connection, id: str) -> Grant | None:
    """Take a standing approval back, one that cannot be read too."""
    found = _find(file, id)
    file.execute("DELETE FROM standing WHERE id = ?", (digest(id),))
    return found


def _find(file: Connection, id: str) -> Grant | None:
    return next(_found(file, "id = ?", digest(id)), None)


def _found(file: Connection, where: str, *values: Any) -> Iterator[Grant]:
    for id, caller, document, seal in file.execute(_SELECT + where, values).fetchall():
        try:
            grant = unsealed(Grant, document, seal)
            if (digest(grant.id), digest(grant.caller)) != (id, caller):
                raise NotDecodable("this approval is damaged")
        except NotDecodable as error:
            _LOG.warning("a standing approval is passed over: %s", error)
        else:
            yield grant

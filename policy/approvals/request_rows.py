"""Approval requests as rows of a database: inserted, found and changed in a transaction.

A row holds the request as a document, and the columns that it is looked up by. A row that cannot
be read is left out of lists, and looking it up raises NotDecodable.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime
from sqlite3 import Connection
from typing import Any, TypeAlias

from policy.approvals.binding import root_session
from policy.approvals.documents import NotDecodable, digest, sealed, unsealed
from policy.approvals.filed import OPEN, AnswerRefused, Filed, as_of, is_about, is_sound
from policy.approvals.request import ApprovalRequest
from policy.approvals.store import Bounds, NotFiled

_LOG = logging.getLogger("policy.approvals")
# A file may contain anything.
_Row: TypeAlias = tuple[Any, ...]

_SELECT = "SELECT id, key, session, is_open, revision, document, seal FROM question WHERE "
_INSERT = """
    INSERT INTO question (id, key, session, is_open, revision, document, seal)
    VALUES (?, ?, ?, ?, ?, ?, ?)"""
_FORGET_CLOSED = """
    DELETE FROM question WHERE is_open = 0 AND revision <= (
        SELECT revision FROM question WHERE is_open = 0 ORDER BY revision DESC LIMIT 1 OFFSET ?
    )"""


def put(
    db: Connection, request: ApprovalRequest, key: str, *, now: datetime, bounds: Bounds
) -> Filed:
    """Insert a request, or return an open one with the same key."""
    for filed in _found(db, "key = ? AND is_open ORDER BY revision", digest(key)):
        if is_about(as_it_stands(db, filed, now), request):
            return filed
    if db.execute(f"{_SELECT} id = ?", (digest(request.id),)).fetchone():
        raise NotFiled("a request with this id exists already")
    if _count_open(db) >= bounds.open:
        for filed in _found(db, "is_open = 1"):
            as_it_stands(db, filed, now)
    if _count_open(db) >= bounds.open:
        raise NotFiled("too many requests wait for an answer")
    filed = _numbered(db, as_of(Filed(request=request, key=key), now))
    db.execute(_INSERT, _row(filed))
    db.execute(_FORGET_CLOSED, (bounds.closed,))
    return filed


def find(db: Connection, id: str) -> Filed | None:
    """Return one request as it is stored."""
    row = db.execute(f"{_SELECT} id = ?", (digest(id),)).fetchone()
    return None if row is None else _read(row)


def pending(db: Connection, session: str | None, *, now: datetime) -> tuple[Filed, ...]:
    """Return the pending requests, oldest first, of one session tree if one is named."""
    tree = None if session is None else digest(session)
    kept = _found(db, "is_open = 1 AND (?1 IS NULL OR session = ?1) ORDER BY number", tree)
    found = (as_of(filed, now) for filed in kept)
    return tuple(filed for filed in found if filed.state == "pending")


def changed(db: Connection, revision: int) -> tuple[Filed, ...]:
    """Return the requests that changed after `revision`, in that order."""
    return tuple(_found(db, "revision > ? ORDER BY revision", revision))


def last_revision(db: Connection) -> int:
    """Return the number of the last change."""
    return int(db.execute("SELECT revision FROM counter").fetchone()[0])


def answer(db: Connection, id: str, by: Callable[[Filed], Filed], *, now: datetime) -> Filed:
    """Change one request as it is at `now`; raise AnswerRefused if there is none."""
    filed = find(db, id)
    if filed is None:
        raise AnswerRefused("there is no such request")
    return keep(db, by(as_it_stands(db, filed, now)))


def as_it_stands(db: Connection, filed: Filed, now: datetime) -> Filed:
    """Return a request as it is at `now`, and store that it has expired if it has."""
    found = as_of(filed, now)
    return filed if found is filed else keep(db, found)


def keep(db: Connection, filed: Filed) -> Filed:
    """Store a changed request under the next revision, and return it."""
    filed = _numbered(db, filed)
    id, _, _, is_open, revision, document, seal = _row(filed)
    db.execute(
        "UPDATE question SET is_open = ?, revision = ?, document = ?, seal = ? WHERE id = ?",
        (is_open, revision, document, seal, id),
    )
    return filed


def _numbered(db: Connection, filed: Filed) -> Filed:
    db.execute("UPDATE counter SET revision = revision + 1")
    return replace(filed, revision=last_revision(db))


def _count_open(db: Connection) -> int:
    return int(db.execute("SELECT COUNT(*) FROM question WHERE is_open = 1").fetchone()[0])


def _found(db: Connection, where: str, *values: Any) -> Iterator[Filed]:
    for row in db.execute(_SELECT + where, values).fetchall():
        try:
            yield _read(row)
        except NotDecodable as error:
            _LOG.warning("an approval request is ignored: %s", error)


def _row(filed: Filed) -> _Row:
    return (*_columns(filed), *sealed(filed))


def _columns(filed: Filed) -> _Row:
    request = filed.request
    return (
        digest(request.id),
        digest(filed.key),
        digest(root_session(request.caller)),
        int(filed.state in OPEN),
        filed.revision,
    )


def _read(row: _Row) -> Filed:
    """Return the request of a row; the columns must agree with the document."""
    *columns, document, seal = row
    filed = unsealed(Filed, document, seal)
    if _columns(filed) != tuple(columns) or not is_sound(filed):
        raise NotDecodable("this request is damaged")
    return filed

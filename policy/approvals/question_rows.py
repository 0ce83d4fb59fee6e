"""Questions in the rows of a database: found, changed and forgotten within one transaction.

A row that cannot be read is no question: it is passed over in lists, and asking for it raises.
"""

from __future__ import annotations

import hashlib
import logging
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from typing import Any

from policy.approvals.binding import root_session
from policy.approvals.codec import NotDecodable, decode, encode
from policy.approvals.ledger import OPEN, AnswerRefused, Bounds, Ended, Filed, NotFiled
from policy.approvals.person import Person
from policy.approvals.request import ApprovalRequest
from policy.approvals.transitions import as_of, denied, ended, is_sound, takes_up

_LOG = logging.getLogger("policy.approvals")
# What a file holds may be anything.
_Row = tuple[Any, ...]

_INSERT = """
    INSERT INTO question (id, key, session, is_open, revision, document, seal)
    VALUES (?, ?, ?, ?, ?, ?, ?)"""
_SELECT_ONE = """
    SELECT id, key, session, is_open, revision, document, seal FROM question WHERE id = ?"""
_SELECT_OF_KEY = """
    SELECT id, key, session, is_open, revision, document, seal FROM question
    WHERE key = ? AND is_open ORDER BY revision"""
_SELECT_OPEN = """
    SELECT id, key, session, is_open, revision, document, seal FROM question
    WHERE is_open = 1 AND (?1 IS NULL OR session = ?1) ORDER BY number"""
_SELECT_CHANGED = """
    SELECT id, key, session, is_open, revision, document, seal FROM question
    WHERE revision > ? ORDER BY revision"""
_FORGET_CLOSED = """
    DELETE FROM question WHERE is_open = 0 AND revision <= (
        SELECT revision FROM question WHERE is_open = 0 ORDER BY revision DESC LIMIT 1 OFFSET ?
    )"""


def digest(text: str) -> str:
    """Return what a text is looked up by."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def put(
    connection: sqlite3.Connection,
    request: ApprovalRequest,
    key: str,
    *,
    now: datetime,
    bounds: Bounds,
) -> Filed:
    """Put a question, or take up an open one of its key."""
    for filed in _readable(connection.execute(_SELECT_OF_KEY, (digest(key),)).fetchall()):
        if takes_up(_looked(connection, filed, now), request):
            return filed
    id = digest(request.id)
    if connection.execute("SELECT 1 FROM question WHERE id = ?", (id,)).fetchone():
        raise NotFiled("a question of this id has been put already")
    if _count_open(connection) >= bounds.open:
        for filed in _readable(connection.execute(_SELECT_OPEN, (None,)).fetchall()):
            _looked(connection, filed, now)
    if _count_open(connection) >= bounds.open:
        raise NotFiled("too many questions wait for an answer")
    filed = _numbered(connection, as_of(Filed(request=request, key=key), now))
    connection.execute(_INSERT, _row(filed))
    connection.execute(_FORGET_CLOSED, (bounds.closed,))
    return filed


def find(connection: sqlite3.Connection, id: str) -> Filed | None:
    """Return one question as it was kept; raise NotDecodable where it cannot be read."""
    row = connection.execute(_SELECT_ONE, (digest(id),)).fetchone()
    return None if row is None else _read(row)


def pending(
    connection: sqlite3.Connection, session: str | None, *, now: datetime
) -> tuple[Filed, ...]:
    """Return the pending questions, oldest first."""
    tree = None if session is None else digest(session)
    rows = connection.execute(_SELECT_OPEN, (tree,)).fetchall()
    found = (as_of(filed, now) for filed in _readable(rows))
    return tuple(filed for filed in found if filed.state == "pending")


def changed(connection: sqlite3.Connection, revision: int) -> tuple[Filed, ...]:
    """Return the questions that changed after `revision`, in that order."""
    return tuple(_readable(connection.execute(_SELECT_CHANGED, (revision,)).fetchall()))


def last_change(connection: sqlite3.Connection) -> int:
    """Return the number of the last change."""
    return int(connection.execute("SELECT revision FROM counter").fetchone()[0])


def change(
    connection: sqlite3.Connection, id: str, by: Callable[[Filed], Filed], *, now: datetime
) -> Filed:
    """Change one question, as it stands now."""
    filed = find(connection, id)
    if filed is None:
        raise AnswerRefused("there is no such question")
    return _keep(connection, by(_looked(connection, filed, now)))


def refuse_all(
    connection: sqlite3.Connection,
    session: str,
    person: Person,
    *,
    now: datetime,
    message: str | None,
) -> tuple[Filed, ...]:
    """Deny every pending question of a session tree."""
    found = pending(connection, session, now=now)
    return tuple(_keep(connection, denied(filed, person, message)) for filed in found)


def end(connection: sqlite3.Connection, id: str, state: Ended, *, now: datetime) -> Filed | None:
    """End a question otherwise; None where it had ended, or is not there."""
    filed = find(connection, id)
    closed = None if filed is None else ended(_looked(connection, filed, now), state)
    return None if closed is None else _keep(connection, closed)


# ---- rows


def _row(filed: Filed) -> _Row:
    document = encode(filed)
    return (*_columns(filed), document, digest(document))


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
    """Return the question of a row, every column of which must agree with it."""
    *columns, document, seal = row
    if not isinstance(document, str) or digest(document) != seal:
        raise NotDecodable("this question is damaged")
    filed = decode(Filed, document)
    if _columns(filed) != tuple(columns) or not is_sound(filed):
        raise NotDecodable("this question is damaged")
    return filed


def _readable(rows: Iterable[_Row]) -> Iterator[Filed]:
    for row in rows:
        try:
            yield _read(row)
        except NotDecodable as error:
            _LOG.warning("a question is passed over: %s", error)


def _looked(connection: sqlite3.Connection, filed: Filed, now: datetime) -> Filed:
    """Return a question as it stands now, and keep it if it has expired."""
    found = as_of(filed, now)
    return filed if found is filed else _keep(connection, found)


def _keep(connection: sqlite3.Connection, filed: Filed) -> Filed:
    """Keep a question as changed, under the next number."""
    filed = _numbered(connection, filed)
    id, _, _, is_open, revision, document, seal = _row(filed)
    connection.execute(
        "UPDATE question SET is_open = ?, revision = ?, document = ?, seal = ? WHERE id = ?",
        (is_open, revision, document, seal, id),
    )
    return filed


def _numbered(connection: sqlite3.Connection, filed: Filed) -> Filed:
    connection.execute("UPDATE counter SET revision = revision + 1")
    return replace(filed, revision=last_change(connection))


def _count_open(connection: sqlite3.Connection) -> int:
    return int(connection.execute("SELECT COUNT(*) FROM question WHERE is_open = 1").fetchone()[0])

"""Questions in the rows of a database: found, changed and forgotten within one transaction.

Each is a document beside the columns that it is found by. One that cannot be read is no question:
it is left out of lists, and asking for it raises NotDecodable.
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
from policy.approvals.filed import OPEN, AnswerRefused, Filed, as_of, is_sound, takes_up
from policy.approvals.request import ApprovalRequest
from policy.approvals.store import Bounds, NotFiled

_LOG = logging.getLogger("policy.approvals")
# What a file holds may be anything.
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
    file: Connection, request: ApprovalRequest, key: str, *, now: datetime, bounds: Bounds
) -> Filed:
    """Put a question, or take up an open one of its key."""
    for filed in _found(file, "key = ? AND is_open ORDER BY revision", digest(key)):
        if takes_up(as_it_stands(file, filed, now), request):
            return filed
    if file.execute(f"{_SELECT} id = ?", (digest(request.id),)).fetchone():
        raise NotFiled("a question of this id has been put already")
    if _count_open(file) >= bounds.open:
        for filed in _found(file, "is_open = 1"):
            as_it_stands(file, filed, now)
    if _count_open(file) >= bounds.open:
        raise NotFiled("too many questions wait for an answer")
    filed = _numbered(file, as_of(Filed(request=request, key=key), now))
    file.execute(_INSERT, _row(filed))
    file.execute(_FORGET_CLOSED, (bounds.closed,))
    return filed


def find(file: Connection, id: str) -> Filed | None:
    """Return one question as it was kept."""
    row = file.execute(f"{_SELECT} id = ?", (digest(id),)).fetchone()
    return None if row is None else _read(row)


def pending(file: Connection, session: str | None, *, now: datetime) -> tuple[Filed, ...]:
    """Return the pending questions, oldest first, of one session tree if one is named."""
    tree = None if session is None else digest(session)
    kept = _found(file, "is_open = 1 AND (?1 IS NULL OR session = ?1) ORDER BY number", tree)
    found = (as_of(filed, now) for filed in kept)
    return tuple(filed for filed in found if filed.state == "pending")


def changed(file: Connection, revision: int) -> tuple[Filed, ...]:
    """Return the questions that changed after `revision`, in that order."""
    return tuple(_found(file, "revision > ? ORDER BY revision", revision))


def last_revision(file: Connection) -> int:
    """Return the number of the last change."""
    return int(file.execute("SELECT revision FROM counter").fetchone()[0])


def answer(file: Connection, id: str, by: Callable[[Filed], Filed], *, now: datetime) -> Filed:
    """Change one question, as it stands now; raise AnswerRefused where there is none."""
    filed = find(file, id)
    if filed is None:
        raise AnswerRefused("there is no such question")
    return keep(file, by(as_it_stands(file, filed, now)))


def as_it_stands(file: Connection, filed: Filed, now: datetime) -> Filed:
    """Return a question as it stands now, and keep it if it has expired."""
    found = as_of(filed, now)
    return filed if found is filed else keep(file, found)


def keep(file: Connection, filed: Filed) -> Filed:
    """Keep a question as changed, under the next number."""
    filed = _numbered(file, filed)
    id, _, _, is_open, revision, document, seal = _row(filed)
    file.execute(
        "UPDATE question SET is_open = ?, revision = ?, document = ?, seal = ? WHERE id = ?",
        (is_open, revision, document, seal, id),
    )
    return filed


def _numbered(file: Connection, filed: Filed) -> Filed:
    file.execute("UPDATE counter SET revision = revision + 1")
    return replace(filed, revision=last_revision(file))


def _count_open(file: Connection) -> int:
    return int(file.execute("SELECT COUNT(*) FROM question WHERE is_open = 1").fetchone()[0])


def _found(file: Connection, where: str, *values: Any) -> Iterator[Filed]:
    for row in file.execute(_SELECT + where, values).fetchall():
        try:
            yield _read(row)
        except NotDecodable as error:
            _LOG.warning("a question is passed over: %s", error)


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
    """Return the question of a row, every column of which must agree with it."""
    *columns, document, seal = row
    filed = unsealed(Filed, document, seal)
    if _columns(filed) != tuple(columns) or not is_sound(filed):
        raise NotDecodable("this question is damaged")
    return filed

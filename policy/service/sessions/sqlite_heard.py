"""What the user wrote in each session tree, as a log in an SQLite file keeps it."""

from __future__ import annotations

import sqlite3
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from policy.model import UserSaid
from policy.service.sessions.heard_texts import MISSED, NOT_HEARD, RESUMED, texts_within
from policy.values import (
    MessageBounds,
    UserMessages,
    messages_to_forget,
    size_of_message,
    too_long_a_message,
    too_many_messages,
)

# `hearing` has a row for each tree whose user somebody has told about; its `characters` are the
# bytes of its messages. `child` are the sessions that have been seen below another.
TABLES = (
    """CREATE TABLE hearing (
        tree INTEGER PRIMARY KEY,
        unknown TEXT,
        characters INTEGER NOT NULL,
        changes INTEGER NOT NULL
    )""",
    "CREATE TABLE heard (id INTEGER PRIMARY KEY AUTOINCREMENT, tree INTEGER NOT NULL, text TEXT)",
    "CREATE INDEX heard_tree ON heard (tree)",
    "CREATE TABLE child (session TEXT PRIMARY KEY) WITHOUT ROWID",
)
# Columns that files of version 5 have: why not all messages are kept, and how many came before.
COLUMNS = (
    "ALTER TABLE hearing ADD COLUMN missing TEXT",
    "ALTER TABLE hearing ADD COLUMN forgotten INTEGER NOT NULL DEFAULT 0",
)
_TREES_REMEMBERED = 64


def add_heard(
    db: sqlite3.Connection,
    tree: int,
    texts: Sequence[str],
    *,
    missed: bool,
    bounds: MessageBounds,
) -> None:
    """Add messages to a tree; `missed`: what the user wrote before is not known."""
    found = _hearing(db, tree)
    hearing = found or _NOTHING
    unknown = hearing.unknown
    if missed and found is None and not _has_calls(db, tree):
        unknown = RESUMED
    elif missed or (found is None and _has_calls(db, tree)):
        unknown = unknown or MISSED
    if unknown is not None:
        _lose(db, tree, unknown)
        return
    short = texts_within(texts, bounds)
    # In bytes, as a text may hold what is no valid Unicode.
    rows = [(tree, text.encode("utf-8", "surrogatepass")) for text in short]
    db.executemany("INSERT INTO heard (tree, text) VALUES (?, ?)", rows)
    missing = hearing.missing if len(short) == len(texts) else too_long_a_message(bounds)
    size = hearing.bytes + sum(map(size_of_message, short))
    _put(db, tree, _within(db, tree, replace(hearing, missing=missing, bytes=size), bounds))


def _within(
    db: sqlite3.Connection, tree: int, hearing: _Hearing, bounds: MessageBounds
) -> _Hearing:
    """Forget the oldest messages of a tree where there are too many; return what is left."""
    if hearing.bytes <= bounds.bytes:
        return hearing
    rows = db.execute("SELECT id, text FROM heard WHERE tree = ? ORDER BY id", (tree,)).fetchall()
    sizes = [size_of_message(_text(stored)) for _, stored in rows]
    oldest = messages_to_forget(sizes, hearing.bytes, bounds)
    db.executemany("DELETE FROM heard WHERE id = ?", [(id,) for id, _ in rows[:oldest]])
    return replace(
        hearing,
        missing=too_many_messages(bounds),
        forgotten=hearing.forgotten + oldest,
        bytes=hearing.bytes - sum(sizes[:oldest]),
    )


def lose_beginning(db: sqlite3.Connection, tree: int) -> None:
    """Note that calls were made before anybody told what the user wrote, if that is so."""
    if _hearing(db, tree) is None and _has_calls(db, tree):
        _lose(db, tree, MISSED)


def join_heard(db: sqlite3.Connection, other: int, tree: int, bounds: MessageBounds) -> None:
    """Make the messages of one tree those of another."""
    theirs = _hearing(db, other)
    if theirs is None:
        return
    ours = _hearing(db, tree) or _NOTHING
    unknown = ours.unknown or theirs.unknown
    if RESUMED in (ours.unknown, theirs.unknown):
        unknown = RESUMED
    db.execute("UPDATE heard SET tree = ? WHERE tree = ?", (tree, other))
    db.execute("DELETE FROM hearing WHERE tree = ?", (other,))
    if unknown is not None:
        _lose(db, tree, unknown)
        return
    both = replace(
        ours,
        missing=ours.missing or theirs.missing,
        forgotten=ours.forgotten + theirs.forgotten,
        bytes=ours.bytes + theirs.bytes,
    )
    _put(db, tree, _within(db, tree, both, bounds))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Hearing:
    """What is known of the messages of a tree; `bytes` as `size_of_message` counts."""

    unknown: str | None = None
    missing: str | None = None
    forgotten: int = 0
    bytes: int = 0
    changes: int = 0


_NOTHING = _Hearing()


def why_beginning_is_missed(db: sqlite3.Connection, tree: int) -> str | None:
    """Return why the first calls of a tree are not known, if its session began elsewhere."""
    found = _hearing(db, tree)
    return RESUMED if found is not None and found.unknown == RESUMED else None


class HeardReader:
    """Reads what was heard in a tree; what is indexed of the messages read last stays so."""

    def __init__(self) -> None:
        self._read: OrderedDict[int, tuple[int, UserMessages]] = OrderedDict()

    def read(self, db: sqlite3.Connection, tree: int | None) -> UserSaid | str:
        """Return the messages of a tree, or why they are not known."""
        found = None if tree is None else _hearing(db, tree)
        if tree is None or found is None:
            return NOT_HEARD
        if found.unknown is not None:
            return found.unknown
        known = self._read.get(tree)
        if known is not None and known[0] == found.changes:
            return known[1]
        rows = db.execute("SELECT text FROM heard WHERE tree = ? ORDER BY id", (tree,))
        texts = tuple(_text(stored) for (stored,) in rows.fetchall())
        messages = _grown(None if known is None else known[1], texts, found)
        self._read[tree] = (found.changes, messages)
        self._read.move_to_end(tree)
        if len(self._read) > _TREES_REMEMBERED:
            self._read.popitem(last=False)
        return messages


def _text(stored: bytes) -> str:
    return stored.decode("utf-8", "surrogatepass")


def _grown(known: UserMessages | None, texts: tuple[str, ...], hearing: _Hearing) -> UserMessages:
    """Return messages, with the index of those that are known already."""
    missing, forgotten = hearing.missing, hearing.forgotten
    if known is None or known.forgotten != forgotten or texts[: len(known.texts)] != known.texts:
        return UserMessages(texts, missing=missing, forgotten=forgotten)
    more = known.and_those(texts[len(known.texts) :])
    return more if missing is None else more.without(missing)


def _hearing(db: sqlite3.Connection, tree: int) -> _Hearing | None:
    query = "SELECT unknown, missing, forgotten, characters, changes FROM hearing WHERE tree = ?"
    row = db.execute(query, (tree,)).fetchone()
    if row is None:
        return None
    unknown, missing, forgotten, size, changes = row
    return _Hearing(
        unknown=unknown, missing=missing, forgotten=forgotten, bytes=size, changes=changes
    )


def _put(db: sqlite3.Connection, tree: int, hearing: _Hearing) -> None:
    db.execute(
        "INSERT INTO hearing (tree, unknown, missing, forgotten, characters, changes) "
        "VALUES (?, ?, ?, ?, ?, 1) ON CONFLICT (tree) DO UPDATE SET unknown = excluded.unknown, "
        "missing = excluded.missing, forgotten = excluded.forgotten, "
        "characters = excluded.characters, changes = changes + 1",
        (tree, hearing.unknown, hearing.missing, hearing.forgotten, hearing.bytes),
    )


def _lose(db: sqlite3.Connection, tree: int, unknown: str) -> None:
    db.execute("DELETE FROM heard WHERE tree = ?", (tree,))
    _put(db, tree, _Hearing(unknown=unknown))


def _has_calls(db: sqlite3.Connection, tree: int) -> bool:
    """Return whether calls of a tree were handed to their tools."""
    query = (
        "SELECT EXISTS (SELECT 1 FROM summary WHERE tree = ?1) "
        "OR EXISTS (SELECT 1 FROM running WHERE tree = ?1)"
    )
    return bool(db.execute(query, (tree,)).fetchone()[0])

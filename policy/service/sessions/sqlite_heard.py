"""What the user wrote in each session tree, as a log in an SQLite file keeps it."""

from __future__ import annotations

import sqlite3
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

from policy.model import UserSaid
from policy.service.sessions.heard_texts import MISSED, NOT_HEARD, RESUMED, messages_of
from policy.values import MOST_CHARACTERS, TOO_MUCH, UserMessages, characters_of

# `hearing` has a row for each tree whose user somebody has told about. `child` are the sessions
# that have been seen below another.
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
_TREES_REMEMBERED = 64


def add_heard(db: sqlite3.Connection, tree: int, texts: Sequence[str], *, missed: bool) -> None:
    """Add messages to a tree; `missed`: what the user wrote before is not known."""
    found = _hearing(db, tree)
    unknown, characters = (None, 0) if found is None else (found.unknown, found.characters)
    if missed and found is None and not _has_calls(db, tree):
        unknown = RESUMED
    elif missed or (found is None and _has_calls(db, tree)):
        unknown = unknown or MISSED
    characters += characters_of(texts)
    if characters > MOST_CHARACTERS:
        unknown = unknown or TOO_MUCH.reason
    if unknown is not None:
        _lose(db, tree, unknown)
        return
    # In bytes, as a text may hold what is no valid Unicode.
    rows = [(tree, text.encode("utf-8", "surrogatepass")) for text in texts]
    db.executemany("INSERT INTO heard (tree, text) VALUES (?, ?)", rows)
    _put(db, tree, None, characters)


def lose_beginning(db: sqlite3.Connection, tree: int) -> None:
    """Note that calls were made before anybody told what the user wrote, if that is so."""
    if _hearing(db, tree) is None and _has_calls(db, tree):
        _lose(db, tree, MISSED)


def join_heard(db: sqlite3.Connection, other: int, tree: int) -> None:
    """Make the messages of one tree those of another."""
    theirs = _hearing(db, other)
    if theirs is None:
        return
    ours = _hearing(db, tree) or _Hearing(unknown=None, characters=0, changes=0)
    characters = ours.characters + theirs.characters
    unknown = ours.unknown or theirs.unknown
    if RESUMED in (ours.unknown, theirs.unknown):
        unknown = RESUMED
    if characters > MOST_CHARACTERS:
        unknown = unknown or TOO_MUCH.reason
    db.execute("UPDATE heard SET tree = ? WHERE tree = ?", (tree, other))
    db.execute("DELETE FROM hearing WHERE tree = ?", (other,))
    if unknown is not None:
        _lose(db, tree, unknown)
    else:
        _put(db, tree, None, characters)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Hearing:
    unknown: str | None
    characters: int
    changes: int


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
        texts = tuple(text.decode("utf-8", "surrogatepass") for (text,) in rows.fetchall())
        messages = _grown(None if known is None else known[1], texts)
        if isinstance(messages, UserMessages):
            self._read[tree] = (found.changes, messages)
            self._read.move_to_end(tree)
            if len(self._read) > _TREES_REMEMBERED:
                self._read.popitem(last=False)
        return messages


def _grown(known: UserMessages | None, texts: tuple[str, ...]) -> UserMessages | str:
    """Return messages, with the index of those that are known already."""
    if known is None or texts[: len(known.texts)] != known.texts:
        return messages_of(texts)
    return known.and_those(texts[len(known.texts) :])


def _hearing(db: sqlite3.Connection, tree: int) -> _Hearing | None:
    query = "SELECT unknown, characters, changes FROM hearing WHERE tree = ?"
    row = db.execute(query, (tree,)).fetchone()
    return None if row is None else _Hearing(unknown=row[0], characters=row[1], changes=row[2])


def _put(db: sqlite3.Connection, tree: int, unknown: str | None, characters: int) -> None:
    db.execute(
        "INSERT INTO hearing (tree, unknown, characters, changes) VALUES (?, ?, ?, 1) "
        "ON CONFLICT (tree) DO UPDATE SET unknown = excluded.unknown, "
        "characters = excluded.characters, changes = changes + 1",
        (tree, unknown, characters),
    )


def _lose(db: sqlite3.Connection, tree: int, unknown: str) -> None:
    db.execute("DELETE FROM heard WHERE tree = ?", (tree,))
    _put(db, tree, unknown, 0)


def _has_calls(db: sqlite3.Connection, tree: int) -> bool:
    """Return whether calls of a tree were handed to their tools."""
    query = (
        "SELECT EXISTS (SELECT 1 FROM summary WHERE tree = ?1) "
        "OR EXISTS (SELECT 1 FROM running WHERE tree = ?1)"
    )
    return bool(db.execute(query, (tree,)).fetchone()[0])

"""Keeps the calls of each session tree, in a file that processes share."""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias, TypeVar

from policy.diagnostics import visible
from policy.model import (
    NO_CALLS,
    RUNNING,
    Balance,
    Caller,
    CallOutput,
    Charge,
    History,
    Moments,
    Outcome,
    ReleasedCall,
    ToolCalls,
    UserSaid,
)
from policy.runtime import (
    DatabaseMissing,
    DatabaseUnusable,
    FileFormat,
    identity_of,
    open_database,
    require_version,
)
from policy.service.sessions.charging import StoredBudget, have_room
from policy.service.sessions.creation_marker import help_for, mark_created, was_created
from policy.service.sessions.kept_calls import DEFAULT_BOUNDS, KeepingBounds
from policy.service.sessions.session_log import (
    SessionKey,
    SessionLogUnusable,
    children_of,
    sessions_of,
)
from policy.service.sessions.session_summary import SessionSummary
from policy.service.sessions.sqlite_budgets import (
    BUDGET_TABLES,
    join_budgets,
    make_charges,
    stored_balance,
    stored_budgets,
    take_back,
)
from policy.service.sessions.sqlite_calls import COLUMNS as CALL_COLUMNS
from policy.service.sessions.sqlite_calls import (
    TABLES,
    CallReader,
    EndedRow,
    add_ended,
    join_calls,
    running_row,
)
from policy.service.sessions.sqlite_heard import COLUMNS as HEARD_COLUMNS
from policy.service.sessions.sqlite_heard import TABLES as HEARD_TABLES
from policy.service.sessions.sqlite_heard import (
    HeardReader,
    add_heard,
    join_heard,
    lose_beginning,
    why_beginning_is_missed,
)
from policy.service.sessions.stored_calls import key_of_session, microseconds, moment, tool_of

_Result = TypeVar("_Result")
Work: TypeAlias = Callable[[sqlite3.Connection], _Result]

# The event loop waits this long for the lock of another process, and no longer.
_BUSY_SECONDS = 2.0

_COLUMNS_OF_5 = (*HEARD_COLUMNS, *CALL_COLUMNS)

# Times are in microseconds since 1970; `untimed` says that there was a call without a time. In
# version 1, the table of the summaries was `called`: a process of that version that still has the
# file open must not go on adding calls to them that are not kept one by one.
_FORMAT = FileFormat(
    application=0x706C6373,  # "plcs"
    version=5,
    tables=(
        """CREATE TABLE tree (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            reset INTEGER NOT NULL DEFAULT 0,
            entries INTEGER NOT NULL DEFAULT 0,
            bytes INTEGER NOT NULL DEFAULT 0
        )""",
        "CREATE TABLE session (key TEXT PRIMARY KEY, tree INTEGER NOT NULL)",
        "CREATE INDEX session_tree ON session (tree)",
        """CREATE TABLE summary (
            tree INTEGER NOT NULL,
            tool TEXT NOT NULL,
            succeeded INTEGER,
            succeeded_untimed INTEGER NOT NULL,
            unsure INTEGER,
            unsure_untimed INTEGER NOT NULL,
            PRIMARY KEY (tree, tool)
        ) WITHOUT ROWID""",
        """CREATE TABLE running (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            tree INTEGER NOT NULL,
            tool TEXT NOT NULL,
            at INTEGER,
            caller TEXT,
            call TEXT,
            input BLOB,
            charges TEXT
        )""",
        "CREATE INDEX running_tree ON running (tree)",
        *TABLES,
        *HEARD_TABLES,
        *BUDGET_TABLES,
        *_COLUMNS_OF_5,
    ),
    upgrades={
        1: (
            *(
                f"ALTER TABLE tree ADD COLUMN {column} INTEGER NOT NULL DEFAULT 0"
                for column in ("reset", "entries", "bytes")
            ),
            *(
                f"ALTER TABLE running ADD COLUMN {column}"
                for column in ("caller TEXT", "call TEXT", "input BLOB")
            ),
            "ALTER TABLE called RENAME TO summary",
            *TABLES,
            "INSERT INTO gap (tree, tool, until) SELECT tree, tool, 1 FROM summary",
        ),
        2: HEARD_TABLES,
        3: ("ALTER TABLE running ADD COLUMN charges TEXT", *BUDGET_TABLES),
        4: _COLUMNS_OF_5,
    },
)


class SqliteSessionLog:
    """A `SessionLog` in the file at `path`, for its owner only.

    A call that was running when its process died stays so for good. Sessions are never forgotten:
    one takes some 100 bytes, and each tool that it called as many. Calls are kept one by one within
    `bounds`. What was written when the power fails may be lost; when a process dies, nothing is.
    Raises SessionLogUnusable if the file cannot be opened.
    """

    def __init__(
        self, path: str | os.PathLike[str], *, bounds: KeepingBounds = DEFAULT_BOUNDS
    ) -> None:
        self.path = Path(path).absolute()
        self._bounds = bounds
        self._reader = CallReader()
        self._heard = HeardReader()
        self._one_at_a_time = threading.Lock()
        try:
            known = was_created(self.path)
            self._connection = open_database(
                self.path,
                _FORMAT,
                any_thread=True,
                busy_seconds=_BUSY_SECONDS,
                may_create=not known,
            )
            self._connection.execute("PRAGMA synchronous=NORMAL")
            mark_created(self.path)
        except DatabaseMissing as error:
            raise _unusable(self.path, f"{error}; {help_for(self.path)}") from error
        except (DatabaseUnusable, sqlite3.Error, OSError) as error:
            raise _unusable(self.path, error) from error
        self._file = identity_of(self.path)

    def close(self) -> None:
        """Close the file."""
        with self._one_at_a_time:
            self._connection.close()

    def history(self, caller: Caller) -> History:
        """Return the earlier calls of the caller's session tree."""
        begin = "BEGIN DEFERRED" if caller.parent is None else "BEGIN IMMEDIATE"
        return self._transact(begin, lambda db: self._history(db, self._tree(db, caller)))

    def balance(self, caller: Caller, charge: Charge, now: datetime | None) -> Balance:
        """Return what is left of a budget for a call of this caller."""

        def balance(db: sqlite3.Connection) -> Balance:
            tree = self._tree(db, caller) if charge.budget.of_tree else None
            return _balance(db, charge, now, tree=tree)

        reads = caller.parent is None or not charge.budget.of_tree
        return self._transact("BEGIN DEFERRED" if reads else "BEGIN IMMEDIATE", balance)

    def budgets(self, meters: Iterable[str]) -> list[StoredBudget]:
        """Return the budgets of some meters, with what was charged to them."""
        return self._transact("BEGIN DEFERRED", lambda db: list(stored_budgets(db, meters)))

    def release(
        self,
        caller: Caller,
        call: ReleasedCall,
        *,
        judged_by: History | None,
        charges: tuple[Charge, ...] = (),
    ) -> int | None:
        """Note a call as running, and charge it; None if it has to be judged again."""

        def release(db: sqlite3.Connection) -> int | None:
            tree = self._tree(db, caller) or _new_tree(db, caller)
            if judged_by is not None and self._history(db, tree) != judged_by:
                return None
            made = None
            if charges:
                if not have_room(charges, lambda one: _balance(db, one, call.at, tree=tree)):
                    return None
                made = make_charges(db, call, charges, tree=tree)
            row = db.execute(
                "INSERT INTO running (tree, tool, at, caller, call, input, charges) "
                "VALUES (?, ?, ?, ?, ?, ?, ?)",
                (tree, *running_row(caller, call), made),
            )
            return row.lastrowid

        return self._transact("BEGIN IMMEDIATE", release)

    def finish(
        self, release: int, outcome: Outcome | None, output: CallOutput | None = None
    ) -> None:
        """Note how a call ended; `outcome` None: it never reached its tool."""

        def finish(db: sqlite3.Connection) -> None:
            found = db.execute(
                "DELETE FROM running WHERE id = ? RETURNING "
                "tree, tool, at, caller, call, input, charges",
                (release,),
            ).fetchone()
            if found is None:
                return
            tree, tool, at, about, call, input, charges = found
            if outcome is None:
                if charges is not None:
                    take_back(db, charges)
                return
            before = _calls(db, tree).get(tool, NO_CALLS)
            _keep(db, tree, tool, before.and_one(outcome, moment(at)))
            row = EndedRow(
                tree=tree, tool=tool, at=at, caller=about, call=call, input=input, outcome=outcome
            )
            add_ended(db, row, output, self._bounds)

        self._transact("BEGIN IMMEDIATE", finish)

    def hear(self, caller: Caller, texts: Sequence[str], *, missed: bool) -> bool:
        """Note what the user wrote; False if the session is not the root of its tree."""

        def hear(db: sqlite3.Connection) -> bool:
            key = key_of_session((caller.user, caller.session))
            if _rows(db, "SELECT 1 FROM child WHERE session = ?", key):
                return False
            tree = self._tree(db, caller) or _new_tree(db, caller)
            add_heard(db, tree, texts, missed=missed, bounds=self._bounds.said)
            return True

        return self._transact("BEGIN IMMEDIATE", hear)

    def said(self, caller: Caller) -> UserSaid | str:
        """Return what the user wrote in the caller's session tree, or why that is not known."""
        begin = "BEGIN DEFERRED" if caller.parent is None else "BEGIN IMMEDIATE"
        return self._transact(begin, lambda db: self._heard.read(db, self._tree(db, caller)))

    def summaries(self) -> list[SessionSummary]:
        """Return every session tree."""

        def summaries(db: sqlite3.Connection) -> list[SessionSummary]:
            trees: dict[int, list[SessionKey]] = {}
            for key, tree in _rows(db, "SELECT key, tree FROM session ORDER BY rowid"):
                user, session = json.loads(key)
                trees.setdefault(tree, []).append((user, session))
            running = dict(_rows(db, "SELECT tree, COUNT(*) FROM running GROUP BY tree"))
            found = []
            for tree, sessions in trees.items():
                history = self._history(db, tree)
                found.append(
                    SessionSummary(
                        sessions=tuple(sessions),
                        tools=history.tools,
                        kept=history.kept,
                        running=running.get(tree, 0),
                    )
                )
            return found

        return self._transact("BEGIN DEFERRED", summaries)

    def clear(self, session: SessionKey, *, running: bool) -> bool:
        """Forget the calls of a session's tree; see `SessionTree.clear`. False: there is none."""

        def clear(db: sqlite3.Connection) -> bool:
            found = _rows(db, _TREE_OF, key_of_session(session))
            for (tree,) in found:
                lose_beginning(db, tree)
                for statement in (*_FORGET, *(_FORGET_RUNNING if running else ())):
                    db.execute(statement, (tree,))
            return bool(found)

        return self._transact("BEGIN IMMEDIATE", clear)

    def _tree(self, db: sqlite3.Connection, caller: Caller) -> int | None:
        return _tree(db, caller, self._bounds)

    def _history(self, db: sqlite3.Connection, tree: int | None) -> History:
        if tree is None:
            return History()
        unknown = why_beginning_is_missed(db, tree)
        calls = _calls(db, tree)
        for tool, at in _rows(db, "SELECT tool, at FROM running WHERE tree = ?", tree):
            calls[tool] = calls.get(tool, NO_CALLS).and_one(RUNNING, moment(at))
        tools = {tool_of(key): each for key, each in calls.items()}
        kept = self._reader.read(db, tree)
        return History(tools=MappingProxyType(tools), unknown=unknown, kept=kept)

    def _transact(self, begin: str, work: Work[_Result]) -> _Result:
        with self._one_at_a_time:
            connection = self._connection
            try:
                if identity_of(self.path) != self._file:
                    raise sqlite3.OperationalError("it was deleted or replaced while in use")
                connection.execute(begin)
                try:
                    require_version(connection, _FORMAT)
                    result = work(connection)
                    connection.execute("COMMIT")
                    return result
                except BaseException:
                    if connection.in_transaction:
                        connection.execute("ROLLBACK")
                    raise
            except (DatabaseUnusable, sqlite3.Error, ValueError, ArithmeticError) as error:
                raise _unusable(self.path, error) from error


def _balance(
    db: sqlite3.Connection, charge: Charge, now: datetime | None, *, tree: int | None
) -> Balance:
    missed = None
    if charge.budget.of_tree and tree is not None:
        missed = why_beginning_is_missed(db, tree)
    if missed is not None:
        return Balance(used=None, wait=None, unknown=missed)
    return stored_balance(db, charge, now, tree=tree)


def _tree(db: sqlite3.Connection, caller: Caller, bounds: KeepingBounds) -> int | None:
    """Return the caller's tree, with all trees joined that meet in it; None if it has none yet."""
    keys = [key_of_session(session) for session in sessions_of(caller)]
    known: dict[str, int] = {key: tree for key in keys for (tree,) in _rows(db, _TREE_OF, key)}
    if len(keys) > 1:
        below = [(key_of_session(session),) for session in children_of(caller)]
        db.executemany("INSERT OR IGNORE INTO child (session) VALUES (?)", below)
    if not known:
        # A session that was not seen before has no calls; it gets a tree with its first one, or
        # now, where it has to be remembered below whom it was seen.
        return None if len(keys) == 1 else _new_tree(db, caller)
    tree, *others = dict.fromkeys(known.values())
    for other in others:
        _join(db, other, tree, bounds)
    for key in keys:
        if key not in known:
            db.execute("INSERT INTO session (key, tree) VALUES (?, ?)", (key, tree))
    return tree


_FORGET = (
    "DELETE FROM summary WHERE tree = ?",
    "DELETE FROM entry WHERE tree = ?",
    "DELETE FROM gap WHERE tree = ?",
    "UPDATE tree SET reset = reset + 1, entries = 0, bytes = 0 WHERE id = ?",
)
_FORGET_RUNNING = ("DELETE FROM running WHERE tree = ?",)
_TREE_OF = "SELECT tree FROM session WHERE key = ?"


def _new_tree(db: sqlite3.Connection, caller: Caller) -> int:
    tree = db.execute("INSERT INTO tree DEFAULT VALUES").lastrowid
    assert tree is not None
    keys = dict.fromkeys(key_of_session(session) for session in sessions_of(caller))
    db.executemany("INSERT INTO session (key, tree) VALUES (?, ?)", [(key, tree) for key in keys])
    return tree


def _join(db: sqlite3.Connection, other: int, tree: int, bounds: KeepingBounds) -> None:
    """Make one tree a part of another."""
    into = _calls(db, tree)
    for tool, calls in _calls(db, other).items():
        _keep(db, tree, tool, calls.and_those(into.get(tool, NO_CALLS)))
    db.execute("DELETE FROM summary WHERE tree = ?", (other,))
    join_calls(db, other, tree)
    join_heard(db, other, tree, bounds.said)
    join_budgets(db, other, tree)
    db.execute("UPDATE running SET tree = ? WHERE tree = ?", (tree, other))
    db.execute("UPDATE session SET tree = ? WHERE tree = ?", (tree, other))
    db.execute("DELETE FROM tree WHERE id = ?", (other,))


def _calls(db: sqlite3.Connection, tree: int) -> dict[str, ToolCalls]:
    """Return the calls that have ended, by tool."""
    return {
        tool: ToolCalls(
            succeeded=Moments(latest=moment(succeeded), untimed=bool(some_succeeded)),
            unsure=Moments(latest=moment(unsure), untimed=bool(some_unsure)),
        )
        for tool, succeeded, some_succeeded, unsure, some_unsure in _rows(db, _CALLS_OF, tree)
    }


_CALLS_OF = (
    "SELECT tool, succeeded, succeeded_untimed, unsure, unsure_untimed FROM summary WHERE tree = ?"
)


def _keep(db: sqlite3.Connection, tree: int, tool: str, calls: ToolCalls) -> None:
    done, unsure = calls.succeeded, calls.unsure
    db.execute(
        "INSERT OR REPLACE INTO summary VALUES (?, ?, ?, ?, ?, ?)",
        (
            tree,
            tool,
            microseconds(done.latest),
            done.untimed,
            microseconds(unsure.latest),
            unsure.untimed,
        ),
    )


def _rows(db: sqlite3.Connection, query: str, *values: Any) -> list[Any]:
    return db.execute(query, values).fetchall()


def _unusable(path: Path, error: object) -> SessionLogUnusable:
    name, why = visible(str(path), 300), visible(str(error), 400)
    return SessionLogUnusable(f"the history of sessions cannot be kept in {name}: {why}")

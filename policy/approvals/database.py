"""An SQLite database of approvals, in a file or in memory: opened, and used in transactions.

A file is used by one thread alone, so that the event loop never waits for a disk; memory needs
none. Every change is one transaction that takes the only write lock before it reads, so that
processes that share a file change it one after another.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias, TypeVar

from policy.approvals.filed import AnswerRefused
from policy.approvals.store import NotFiled, StoreUnusable
from policy.approvals.store_file import identity_of, make_file
from policy.diagnostics import visible

_Result = TypeVar("_Result")
Work: TypeAlias = Callable[[sqlite3.Connection], _Result]

MEMORY = ":memory:"
# What the file says it is ("plca"), and the version of the tables below.
_APPLICATION = 0x706C6361
_VERSION = 1
# Another process holds the lock for one small transaction; longer is no traffic but a fault.
_BUSY_SECONDS = 10.0

# Texts are looked up by their digest, for they may hold anything; what they say, and all else, is
# in the document, whose seal tells whether it is as it was written.
_TABLES = (
    "CREATE TABLE counter (revision INTEGER NOT NULL)",
    "INSERT INTO counter VALUES (0)",
    """CREATE TABLE question (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        key TEXT NOT NULL,
        session TEXT NOT NULL,
        is_open INTEGER NOT NULL,
        revision INTEGER NOT NULL,
        document TEXT NOT NULL,
        seal TEXT NOT NULL
    )""",
    "CREATE INDEX question_changed ON question (revision)",
    "CREATE INDEX question_open ON question (is_open, revision)",
    "CREATE INDEX question_key ON question (key) WHERE is_open",
    """CREATE TABLE session (
        id TEXT PRIMARY KEY,
        asked INTEGER NOT NULL,
        used INTEGER NOT NULL
    )""",
    "CREATE INDEX session_used ON session (used)",
    """CREATE TABLE refusal (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        session TEXT NOT NULL,
        digest TEXT NOT NULL,
        UNIQUE (session, digest)
    )""",
    """CREATE TABLE standing (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        caller TEXT NOT NULL,
        used INTEGER NOT NULL,
        document TEXT NOT NULL,
        seal TEXT NOT NULL
    )""",
    "CREATE INDEX standing_caller ON standing (caller)",
    "CREATE INDEX standing_used ON standing (used)",
)


class Database:
    """An open database. Raises StoreUnusable where it cannot be opened, read or written.

    `path` is None for one in memory.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = None if os.fspath(path) == MEMORY else Path(path).absolute()
        self._thread: ThreadPoolExecutor | None = None
        self._one_at_a_time = threading.Lock()
        if self.path is None:
            self._connection = _opened(None)
            weakref.finalize(self, self._connection.close)
            return
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="approvals")
        try:
            self._connection = self._thread.submit(_opened, self.path).result()
        except BaseException:
            self._thread.shutdown()
            raise
        self._file = identity_of(self.path)

    async def read(self, work: Work[_Result]) -> _Result:
        """Run `work` on the database as it is at one moment."""
        return await self._run(lambda: self._transact("BEGIN DEFERRED", work))

    async def write(self, work: Work[_Result]) -> _Result:
        """Run `work` as one change: all of it is kept, or nothing.

        What it changes before it raises AnswerRefused or NotFiled is kept: that a question was
        found to have expired, for example.
        """
        return await self._run(lambda: self._transact("BEGIN IMMEDIATE", work))

    def close(self) -> None:
        """Close the database, after what is under way; it is of no use any more."""
        if self._thread is None:
            self._connection.close()
            return
        with suppress(RuntimeError):  # it was closed before
            self._thread.submit(self._connection.close).result()
        self._thread.shutdown()

    async def aclose(self) -> None:
        """Close the database, without making the event loop wait for what is under way."""
        with suppress(StoreUnusable):
            await self._run(self._connection.close)
        if self._thread is not None:
            self._thread.shutdown()

    def _transact(self, begin: str, work: Work[_Result]) -> _Result:
        connection = self._connection
        if self.path is not None and identity_of(self.path) != self._file:
            # Whoever answers would look for the questions in another file than this one.
            raise sqlite3.OperationalError("it was deleted or exchanged while it was in use")
        connection.execute(begin)
        try:
            try:
                result = work(connection)
            except (AnswerRefused, NotFiled):
                connection.execute("COMMIT")
                raise
            connection.execute("COMMIT")
            return result
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise

    async def _run(self, work: Callable[[], _Result]) -> _Result:
        try:
            if self._thread is None:
                with self._one_at_a_time:
                    return work()
            doing = asyncio.get_running_loop().run_in_executor(self._thread, work)
        except RuntimeError as error:
            raise StoreUnusable("the store of approvals is closed") from error
        except sqlite3.Error as error:
            raise _unusable(self.path, str(error)) from error
        try:
            # What has begun is done, whoever waits for it: nothing is left half known.
            return await asyncio.shield(doing)
        except sqlite3.Error as error:
            raise _unusable(self.path, str(error)) from error


# ---- opening


def _opened(path: Path | None) -> sqlite3.Connection:
    try:
        if path is not None:
            make_file(path)
    except OSError as error:
        raise _unusable(path, error.strerror or "it cannot be opened") from error
    try:
        # Memory is used by any thread, one at a time; a file by the thread that opens it.
        connection = sqlite3.connect(
            path or MEMORY,
            isolation_level=None,
            timeout=_BUSY_SECONDS,
            check_same_thread=path is not None,
        )
    except sqlite3.Error as error:
        raise _unusable(path, str(error)) from error
    try:
        _prepare(connection, path)
    except BaseException as error:
        connection.close()
        if isinstance(error, sqlite3.Error):
            raise _unusable(path, str(error)) from error
        raise
    return connection


def _prepare(connection: sqlite3.Connection, path: Path | None) -> None:
    # Nothing is written before it is known that the file is ours, or empty.
    connection.execute("PRAGMA trusted_schema=OFF")
    # In one transaction: between two looks, another process may make the store that this one wants.
    connection.execute("BEGIN")
    _require_ours(connection, path)
    connection.execute("COMMIT")
    _write_ahead(connection)
    # An approval that was taken stays taken, whatever happens to the power.
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("BEGIN IMMEDIATE")
    if _require_ours(connection, path) is None:
        for statement in _TABLES:
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id={_APPLICATION}")
        connection.execute(f"PRAGMA user_version={_VERSION}")
    connection.execute("COMMIT")


def _require_ours(connection: sqlite3.Connection, path: Path | None) -> int | None:
    """Return the version of the tables, None for an empty file; raise StoreUnusable otherwise."""
    application = _number(connection, "PRAGMA application_id")
    version = _number(connection, "PRAGMA user_version")
    if not (application or version or _number(connection, "SELECT COUNT(*) FROM sqlite_master")):
        return None
    if application != _APPLICATION:
        raise _unusable(path, "it is a database of something else")
    if version > _VERSION:
        raise _unusable(path, f"it was made by a newer version ({version} instead of {_VERSION})")
    if version < _VERSION:
        raise _unusable(path, f"it was made by an older version ({version} instead of {_VERSION})")
    return version


def _number(connection: sqlite3.Connection, statement: str) -> int:
    return int(connection.execute(statement).fetchone()[0])


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Let readers and the writer work side by side; of many that say so at once, one must wait."""
    end = time.monotonic() + _BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError:
            if time.monotonic() >= end:
                raise
            time.sleep(0.01)


def _unusable(path: Path | None, why: str) -> StoreUnusable:
    name = "memory" if path is None else visible(str(path), 300)
    return StoreUnusable(f"approvals cannot be kept in {name}: {visible(why, 200)}")

"""The SQLite database of a store: opening it, its tables, and transactions.

A file is used by a separate thread, so that the event loop never waits for the disk; a database
in memory is used directly. A change takes the write lock before it reads, so that processes that
share a file change it one after another.
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
# The application id of the file ("plca"), and the version of the tables below.
_APPLICATION = 0x706C6361
_VERSION = 1
# Other processes hold the lock for one small transaction; longer than this is an error.
_BUSY_SECONDS = 10.0

# A file keeps its format: approval requests are rows of the table `question`, as in version 1. Ids,
# keys and sessions may be any string, so their digests are stored and looked up. The document holds
# everything else; its seal is a digest that shows whether it is unchanged.
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
    """An open database. Raises StoreUnusable if it cannot be opened, read or written.

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
        """Run `work` in a transaction that only reads."""
        return await self._run(lambda: self._transact("BEGIN DEFERRED", work))

    async def write(self, work: Work[_Result]) -> _Result:
        """Run `work` in a transaction: all of its changes are stored, or none.

        Changes before it raises AnswerRefused or NotFiled are stored: that a request has expired,
        for example.
        """
        return await self._run(lambda: self._transact("BEGIN IMMEDIATE", work))

    def close(self) -> None:
        """Close the database, after the transaction under way."""
        if self._thread is None:
            self._connection.close()
            return
        with suppress(RuntimeError):  # it was closed before
            self._thread.submit(self._connection.close).result()
        self._thread.shutdown()

    async def aclose(self) -> None:
        """Close the database; the event loop does not wait for the transaction under way."""
        with suppress(StoreUnusable):
            await self._run(self._connection.close)
        if self._thread is not None:
            self._thread.shutdown()

    def _transact(self, begin: str, work: Work[_Result]) -> _Result:
        connection = self._connection
        if self.path is not None and identity_of(self.path) != self._file:
            # People would answer requests in a different file.
            raise sqlite3.OperationalError("it was deleted or replaced while it was in use")
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
            # A transaction under way is completed, even if the task that waits is cancelled.
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
    # Nothing is written before it is known that the file is a store, or empty.
    connection.execute("PRAGMA trusted_schema=OFF")
    # In one transaction: another process may be creating the store at this moment.
    connection.execute("BEGIN")
    _version_of(connection, path)
    connection.execute("COMMIT")
    _write_ahead(connection)
    # A used approval must stay used when the power fails.
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("BEGIN IMMEDIATE")
    if _version_of(connection, path) is None:
        for statement in _TABLES:
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id={_APPLICATION}")
        connection.execute(f"PRAGMA user_version={_VERSION}")
    connection.execute("COMMIT")


def _version_of(connection: sqlite3.Connection, path: Path | None) -> int | None:
    """Return the version of the tables, None for an empty file; else raise StoreUnusable."""
    application = _number(connection, "PRAGMA application_id")
    version = _number(connection, "PRAGMA user_version")
    if not (application or version or _number(connection, "SELECT COUNT(*) FROM sqlite_master")):
        return None
    if application != _APPLICATION:
        raise _unusable(path, "it is a database of another application")
    if version > _VERSION:
        raise _unusable(path, f"it was made by a newer version ({version} instead of {_VERSION})")
    if version < _VERSION:
        raise _unusable(path, f"it was made by an older version ({version} instead of {_VERSION})")
    return version


def _number(connection: sqlite3.Connection, statement: str) -> int:
    return int(connection.execute(statement).fetchone()[0])


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Switch to write-ahead logging, which fails while another process does the same."""
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

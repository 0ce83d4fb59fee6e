"""The SQLite database of a store of approvals: its tables, and transactions.

A file is used by a separate thread, so that the event loop never waits for the disk; a database
in memory is used directly. A change takes the write lock before it reads, so that processes that
share a file change it one after another.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias, TypeVar

from policy.approvals.filed import AnswerRefused
from policy.approvals.store import NotFiled, StoreUnusable
from policy.diagnostics import visible
from policy.runtime import DatabaseUnusable, FileFormat, identity_of, open_database

_Result = TypeVar("_Result")
Work: TypeAlias = Callable[[sqlite3.Connection], _Result]

MEMORY = ":memory:"
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
# The application id is "plca".
_FORMAT = FileFormat(application=0x706C6361, version=1, tables=_TABLES)


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
        # Memory is used by any thread, one at a time; a file by the thread that opens it.
        connection = open_database(path, _FORMAT, any_thread=path is None)
    except DatabaseUnusable as error:
        raise _unusable(path, str(error)) from error
    # A used approval must stay used when the power fails.
    connection.execute("PRAGMA synchronous=FULL")
    return connection


def _unusable(path: Path | None, why: str) -> StoreUnusable:
    name = "memory" if path is None else visible(str(path), 300)
    return StoreUnusable(f"approvals cannot be kept in {name}: {visible(why, 200)}")

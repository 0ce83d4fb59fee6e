"""A path in, an SQLite file of approvals out, touched by one thread alone.

However many calls wait, there is one thread a store, and the event loop never waits for a disk.
Every change is one transaction that takes the file's only write lock before it reads, so that
processes that share the file change it one after another.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import stat
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from policy.approvals.ledger import AnswerRefused, NotFiled, StoreUnusable
from policy.diagnostics import visible

_Result = TypeVar("_Result")
_Given = ParamSpec("_Given")
_Work = Callable[Concatenate[sqlite3.Connection, _Given], _Result]

# What the file says it is ("plca"), and the version of the tables below.
_APPLICATION = 0x706C6361
_VERSION = 1
# Another process holds the lock for one small transaction; longer is no traffic but a fault.
_BUSY_SECONDS = 10.0
_OWNER_ONLY = 0o600
_GROUP_TOO = 0o660
_OTHERS = stat.S_IRWXG | stat.S_IRWXO

_TO_READ = "BEGIN DEFERRED"
_TO_WRITE = "BEGIN IMMEDIATE"

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
    """One open file and its thread. Raises StoreUnusable where the file is no such store."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path).absolute()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="approvals")
        try:
            self._connection = self._thread.submit(_opened, self.path).result()
            self._place = _place(self.path)
        except BaseException:
            self._thread.shutdown()
            raise

    async def read(
        self, work: _Work[_Given, _Result], *args: _Given.args, **kwargs: _Given.kwargs
    ) -> _Result:
        """Run `work` on the file as it is at one moment."""
        return await self._run(lambda file: self._within(file, _TO_READ, work, *args, **kwargs))

    async def write(
        self, work: _Work[_Given, _Result], *args: _Given.args, **kwargs: _Given.kwargs
    ) -> _Result:
        """Run `work` as one change: all of it is kept, or nothing."""
        return await self._run(lambda file: self._within(file, _TO_WRITE, work, *args, **kwargs))

    def close(self) -> None:
        """Close the file, after what is under way; the store is of no use any more."""
        try:
            self._thread.submit(self._connection.close).result()
        except RuntimeError:
            return
        self._thread.shutdown()

    async def aclose(self) -> None:
        """Close the file, without making the event loop wait for what is under way."""
        with suppress(StoreUnusable):
            await self._run(sqlite3.Connection.close)
        self._thread.shutdown()

    def _within(
        self,
        connection: sqlite3.Connection,
        begin: str,
        work: _Work[_Given, _Result],
        *args: _Given.args,
        **kwargs: _Given.kwargs,
    ) -> _Result:
        """Run `work` in one transaction."""
        if _place(self.path) != self._place:
            # Whoever answers would look for the questions in another file than this one.
            raise sqlite3.OperationalError("it was deleted or exchanged while it was in use")
        connection.execute(begin)
        try:
            result = work(connection, *args, **kwargs)
        except (AnswerRefused, NotFiled):
            # What was found out on the way, such as that a question has expired, is kept.
            connection.execute("COMMIT")
            raise
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")
        return result

    async def _run(self, work: Callable[[sqlite3.Connection], _Result]) -> _Result:
        loop = asyncio.get_running_loop()
        try:
            doing = loop.run_in_executor(self._thread, work, self._connection)
        except RuntimeError as error:
            raise StoreUnusable("the store of approvals is closed") from error
        try:
            # What has begun is done, whoever waits for it: nothing is left half known.
            return await asyncio.shield(doing)
        except sqlite3.Error as error:
            raise _unusable(self.path, str(error)) from error


# ---- opening


def _place(path: Path) -> tuple[int, int] | None:
    """Return which file stands at a path; None where there is none, or it cannot be seen."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _opened(path: Path) -> sqlite3.Connection:
    try:
        _make_file(path)
    except OSError as error:
        raise _unusable(path, error.strerror or "it cannot be opened") from error
    connection: sqlite3.Connection | None = None
    try:
        connection = sqlite3.connect(path, isolation_level=None, timeout=_BUSY_SECONDS)
        _prepare(connection, path)
    except BaseException as error:
        if connection is not None:
            connection.close()
        if isinstance(error, sqlite3.Error):
            raise _unusable(path, str(error)) from error
        raise
    return connection


def _make_file(path: Path) -> None:
    """Make the file and its folder, for those who may use it; a file that is there becomes so."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    wanted = _mode_in(path.parent)
    try:
        _make_empty(path)
    except FileExistsError:
        # Not opened here: closing it again would drop the locks of this process on it.
        mode = path.stat().st_mode
        if not stat.S_ISREG(mode):
            raise _unusable(path, "it is no file") from None
        if mode & _OTHERS & ~wanted:
            path.chmod(wanted)
        return
    if wanted != _OWNER_ONLY:
        path.chmod(wanted)


def _make_empty(path: Path) -> None:
    """Make an empty file under this name, or raise FileExistsError.

    It gets its name after it was closed: closing a file drops every lock that this process has on
    it, those of a connection in another thread as well.
    """
    unnamed = path.with_name(f".{path.name}.{os.urandom(8).hex()}")
    os.close(os.open(unnamed, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _OWNER_ONLY))
    try:
        os.link(unnamed, path)
    finally:
        unnamed.unlink()


def _mode_in(folder: Path) -> int:
    """Return who may use a store in a folder: its owner.

    Or the group of the folder, where that hands its group on (setgid) and lets it write: several
    people can only answer, each in their own name, if they share the file.
    """
    mode = folder.stat().st_mode
    shared = mode & stat.S_ISGID and mode & stat.S_IWGRP and not mode & stat.S_IWOTH
    return _GROUP_TOO if shared else _OWNER_ONLY


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    # Nothing is written before it is known that the file is ours, or empty.
    connection.execute("PRAGMA trusted_schema=OFF")
    # In one transaction: between two looks, another process may make the store that this one wants.
    connection.execute("BEGIN")
    _check(connection, path)
    connection.execute("COMMIT")
    _write_ahead(connection)
    # An approval that was taken stays taken, whatever happens to the power.
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("BEGIN IMMEDIATE")
    if _check(connection, path):
        for statement in _TABLES:
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id={_APPLICATION}")
        connection.execute(f"PRAGMA user_version={_VERSION}")
    connection.execute("COMMIT")


def _check(connection: sqlite3.Connection, path: Path) -> bool:
    """Tell whether the file is empty; raise StoreUnusable if it is not, and no store of ours."""
    application = _number(connection, "PRAGMA application_id")
    version = _number(connection, "PRAGMA user_version")
    if not application and not version and not _number(connection, _OBJECTS):
        return True
    if application != _APPLICATION:
        raise _unusable(path, "it is a database of something else")
    if version > _VERSION:
        raise _unusable(path, f"it was made by a newer version ({version} instead of {_VERSION})")
    if version != _VERSION:
        raise _unusable(path, f"it was made by an older version ({version} instead of {_VERSION})")
    return False


_OBJECTS = "SELECT COUNT(*) FROM sqlite_master"


def _number(connection: sqlite3.Connection, statement: str) -> int:
    found = connection.execute(statement).fetchone()[0]
    return int(found)


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


def _unusable(path: Path, why: str) -> StoreUnusable:
    name = visible(str(path), 300)
    return StoreUnusable(f"approvals cannot be kept in {name}: {visible(why, 200)}")

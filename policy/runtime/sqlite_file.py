"""Opens SQLite files of ours: private, with write-ahead logging, and of a known version."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from policy.runtime.private_file import make_file

_MEMORY = ":memory:"
# Other processes hold the lock for one small transaction; longer than this is an error.
_BUSY_SECONDS = 10.0
_MISSING = "it was deleted or emptied"


class DatabaseUnusable(Exception):
    """Why a file cannot be opened, as a clause."""


class DatabaseMissing(DatabaseUnusable):
    """There is no file where one must be, or it is empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileFormat:
    """The tables of a file, with the application id and the version that mark it.

    `upgrades` has the statements that make a file of a version one of the next. A version without
    them cannot be opened.
    """

    application: int
    version: int
    tables: tuple[str, ...]
    upgrades: Mapping[int, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))


def open_database(
    path: Path | None,
    format: FileFormat,
    *,
    any_thread: bool = False,
    busy_seconds: float = _BUSY_SECONDS,
    may_create: bool = True,
) -> sqlite3.Connection:
    """Return a connection without implicit transactions; `path` None: a database in memory.

    A new file is for its owner only. With `any_thread`, whoever uses the connection makes sure that
    one thread does at a time. `busy_seconds` is how long to wait for the lock of another process.
    Raises DatabaseUnusable, also for a file that is missing or empty unless it `may_create` one.
    """
    if path is not None and not may_create and not path.exists():
        raise DatabaseMissing(_MISSING)
    try:
        if path is not None:
            make_file(path)
    except OSError as error:
        raise DatabaseUnusable(error.strerror or "it cannot be opened") from error
    try:
        connection = sqlite3.connect(
            path or _MEMORY,
            isolation_level=None,
            timeout=busy_seconds,
            check_same_thread=not any_thread,
        )
    except sqlite3.Error as error:
        raise DatabaseUnusable(str(error)) from error
    try:
        _prepare(connection, format, busy_seconds, may_create=may_create)
    except BaseException as error:
        connection.close()
        if isinstance(error, sqlite3.Error):
            raise DatabaseUnusable(str(error)) from error
        raise
    return connection


def require_version(connection: sqlite3.Connection, format: FileFormat) -> None:
    """Raise DatabaseUnusable if another version has changed a file since it was opened."""
    version = _number(connection, "PRAGMA user_version")
    if version != format.version:
        raise DatabaseUnusable(_other_version(version, format))


def _prepare(
    connection: sqlite3.Connection, format: FileFormat, busy_seconds: float, *, may_create: bool
) -> None:
    # Nothing is written before it is known that the file is ours, or empty.
    connection.execute("PRAGMA trusted_schema=OFF")
    # In one transaction: another process may be creating the file at this moment.
    connection.execute("BEGIN")
    if _version_of(connection, format) is None and not may_create:
        raise DatabaseMissing(_MISSING)
    connection.execute("COMMIT")
    _write_ahead(connection, busy_seconds)
    connection.execute("BEGIN IMMEDIATE")
    version = _version_of(connection, format)
    if version is None:
        for statement in format.tables:
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id={format.application}")
        connection.execute(f"PRAGMA user_version={format.version}")
    elif version < format.version:
        for older in range(version, format.version):
            for statement in format.upgrades[older]:
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version={format.version}")
    connection.execute("COMMIT")


def _version_of(connection: sqlite3.Connection, format: FileFormat) -> int | None:
    """Return the version of the file, None if it is empty; raise DatabaseUnusable for others."""
    application = _number(connection, "PRAGMA application_id")
    version = _number(connection, "PRAGMA user_version")
    if not (application or version or _number(connection, "SELECT COUNT(*) FROM sqlite_master")):
        return None
    if application != format.application:
        raise DatabaseUnusable("it is a database of another application")
    if version > format.version or any(
        each not in format.upgrades for each in range(version, format.version)
    ):
        raise DatabaseUnusable(_other_version(version, format))
    return version


def _other_version(version: int, format: FileFormat) -> str:
    other = "a newer" if version > format.version else "an older"
    return f"it was made by {other} version ({version} instead of {format.version})"


def _number(connection: sqlite3.Connection, statement: str) -> int:
    return int(connection.execute(statement).fetchone()[0])


def _write_ahead(connection: sqlite3.Connection, busy_seconds: float) -> None:
    """Switch to write-ahead logging, which fails while another process does the same."""
    end = time.monotonic() + busy_seconds
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError:
            if time.monotonic() >= end:
                raise
            time.sleep(0.01)

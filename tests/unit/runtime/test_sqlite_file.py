"""SQLite files of ours: whose they are, and which format they have."""

from __future__ import annotations

import os
import sqlite3
import stat
import threading
from contextlib import closing
from pathlib import Path

import pytest

from policy.runtime import sqlite_file
from policy.runtime.sqlite_file import DatabaseUnusable, FileFormat, open_database

FORMAT = FileFormat(application=7, version=2, tables=("CREATE TABLE some (thing TEXT)",))


def test_a_new_file_has_its_tables_and_is_for_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "a.db"
    with closing(open_database(path, FORMAT)) as made:
        made.execute("INSERT INTO some VALUES ('x')")
    with closing(open_database(path, FORMAT)) as again:
        assert again.execute("SELECT thing FROM some").fetchall() == [("x",)]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("other", "why"),
    [
        (FileFormat(application=8, version=2, tables=()), "of another application"),
        (FileFormat(application=7, version=1, tables=()), "newer version"),
        (FileFormat(application=7, version=3, tables=()), "older version"),
    ],
)
def test_a_file_of_another_format_is_left_alone(
    tmp_path: Path, other: FileFormat, why: str
) -> None:
    path = tmp_path / "a.db"
    open_database(path, FORMAT).close()
    before = path.read_bytes()
    with pytest.raises(DatabaseUnusable, match=why):
        open_database(path, other)
    assert path.read_bytes() == before


def test_a_file_made_while_it_is_looked_at_is_no_other_application(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.db"
    other = threading.Thread(target=lambda: open_database(path, FORMAT, any_thread=True).close())
    looked = sqlite_file._number

    def interrupted(connection: sqlite3.Connection, question: str) -> int:
        answer = looked(connection, question)
        if not other.ident:
            other.start()
            # It makes the file now, unless it has to wait for whoever looks.
            other.join(timeout=0.3)
        return answer

    monkeypatch.setattr(sqlite_file, "_number", interrupted)
    open_database(path, FORMAT).close()
    other.join()


def test_a_file_of_another_user_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.db"
    open_database(path, FORMAT).close()
    monkeypatch.setattr(os, "geteuid", lambda: path.stat().st_uid + 1)
    with pytest.raises(DatabaseUnusable, match="belongs to another user"):
        open_database(path, FORMAT)
    # In a folder that a group shares, each member may have made it.
    tmp_path.chmod(0o2770)
    open_database(path, FORMAT).close()

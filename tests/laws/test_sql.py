"""No spelling hides a SQL statement from the reader, and SQLite names no table that it misses."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy.values import SQL_DIALECTS, Sql, Unreadable, read_sql

DENIED = (
    "drop table users",
    "delete from users where id = 1",
    "update users set name = 'x -- /* y' where id = 1",
    "insert into users ( id ) select id from orders",
    "truncate table users",
    "alter table users rename to people",
    "with gone as ( select 1 ) insert into users select * from gone",
    "select 1 ; drop table users ; select 2",
    "merge into users using orders on users . id = orders . id when matched then delete",
)
GAPS = (" ", "\n", "\t", "  ", "\r\n", "/**/", "/* x */", "/* ' */", "-- x\n", "--\n", "-- ';\n",
        "#\n", "# x'\n", "/*! */", "/*!50000 */", "/*/*/", "/* /* */ */", "\f", "\u00a0", "\x00",
        "--\r", "\\", "/*+ x */", "{# #}", "//\n")  # fmt: skip
CASES: tuple[Callable[[str], str], ...] = (str.lower, str.upper, str.title, str.swapcase)


@st.composite
def respelled(draw: st.DrawFn) -> str:
    """Draw a denied statement with other cases of its words and other gaps between them."""
    text = draw(st.sampled_from(DENIED))
    words = []
    for place, part in enumerate(text.split("'")):
        if place % 2:
            words.append(f"'{part}'")
        else:
            words.extend(draw(st.sampled_from(CASES))(word) for word in part.split())
    gaps = st.sampled_from(GAPS)
    return "".join(draw(gaps) + draw(st.sampled_from((" ", ""))) + word for word in words)


@pytest.mark.parametrize("dialect", [None, *SQL_DIALECTS])
@given(text=respelled())
def test_spacing_and_case_hide_no_statement(dialect: str | None, text: str) -> None:
    found = read_sql(text, dialect)
    if isinstance(found, Sql):
        assert "users" in found.writes
        assert any(one.kind != "select" for one in found.statements)


# ------------------------------------------------------------------ SQLite as the oracle

_NAMES = ("a", "b", "users", '"users"', "[a]", "`b`", "main.users", "USERS")
_ACTIONS = {
    sqlite3.SQLITE_READ: 0,
    sqlite3.SQLITE_INSERT: 0,
    sqlite3.SQLITE_UPDATE: 0,
    sqlite3.SQLITE_DELETE: 0,
    sqlite3.SQLITE_DROP_TABLE: 0,
    sqlite3.SQLITE_CREATE_TABLE: 0,
    sqlite3.SQLITE_ALTER_TABLE: 1,
}
_WRITING = frozenset(_ACTIONS) - {sqlite3.SQLITE_READ}


def queries(depth: int = 2) -> st.SearchStrategy[str]:
    """Return queries over the three tables, with names that hide them."""
    table = st.sampled_from(_NAMES)
    plain = st.builds("select x from {} as q".format, table) | st.builds(
        "select x from {}".format, table
    )
    if depth == 0:
        return plain
    inner = queries(depth - 1)
    name = st.sampled_from(("a", "users", "z", "USERS"))
    return st.one_of(
        plain,
        st.builds("select x from ({}) as q".format, inner),
        st.builds("select (select max(x) from {}) as x from {}".format, table, table),
        st.builds("select x from {} where x in ({})".format, table, inner),
        st.builds("select x from {} where exists ({})".format, table, inner),
        st.builds("{} union {}".format, inner, inner),
        st.builds("with {} as ({}) {}".format, name, inner, inner),
        st.builds("with {0} as ({1}), {2}_2 as ({3}) {4}".format, name, inner, name, inner, inner),
        st.builds("select l.x from {} as l join {} as r on l.x = r.x".format, table, table),
    )


def statements() -> st.SearchStrategy[str]:
    """Return statements that read and change the three tables."""
    table, query = st.sampled_from(_NAMES), queries()
    return st.one_of(
        query,
        st.builds("insert into {} (x) {}".format, table, query),
        st.builds("insert or replace into {} (x) values (({} limit 1))".format, table, query),
        st.builds("update {} set x = ({} limit 1) where x in ({})".format, table, query, query),
        st.builds("delete from {} where x in ({})".format, table, query),
        st.builds("with users as ({}) delete from {} where 1".format, query, table),
        st.builds("create table n as {}".format, query),
        st.builds("drop table {}".format, table),
        st.builds("alter table {} rename to n".format, table),
    )


@pytest.fixture(scope="module")
def database() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:")) as found:
        for name in ("a", "b", "users"):
            found.execute(f"create table {name} (x)")
        yield found


def seen_by_sqlite(database: sqlite3.Connection, text: str) -> tuple[set[str], set[str]] | None:
    """Return the tables SQLite reads and writes for a statement, None where it refuses it."""
    reads: set[str] = set()
    writes: set[str] = set()

    def ask(action: int, first: str | None, second: str | None, *_: str | None) -> int:
        if action in _ACTIONS:
            name = ((first, second)[_ACTIONS[action]] or "").lower()
            (writes if action in _WRITING else reads).add(name)
        return sqlite3.SQLITE_OK

    database.set_authorizer(ask)
    try:
        database.execute(f"explain {text}")
    except sqlite3.Error:
        return None
    finally:
        database.set_authorizer(None)
    return reads & {"a", "b", "users"}, writes & {"a", "b", "users"}


def bare(names: tuple[str, ...]) -> set[str]:
    return {name.removeprefix("main.") for name in names}


@given(text=statements())
def test_every_table_that_sqlite_reads_is_found(database: sqlite3.Connection, text: str) -> None:
    expected = seen_by_sqlite(database, text)
    found = read_sql(text, "sqlite")
    if expected is None or isinstance(found, Unreadable):
        return
    reads, writes = expected
    assert writes <= bare(found.writes), text
    assert reads <= bare(found.tables), text


@pytest.mark.parametrize(
    ("text", "reads", "writes"),
    [
        ("select x from users", {"users"}, set()),
        ("with z as (select 1) select x from b", {"b"}, set()),
        ("insert into a (x) select x from users", {"users"}, {"a"}),
    ],
)
def test_both_sql_readers_find_the_same_tables(
    database: sqlite3.Connection, text: str, reads: set[str], writes: set[str]
) -> None:
    found = read_sql(text, "sqlite")
    assert isinstance(found, Sql)
    assert (bare(found.reads), bare(found.writes)) == (reads, writes)
    assert seen_by_sqlite(database, text) == (reads, writes)

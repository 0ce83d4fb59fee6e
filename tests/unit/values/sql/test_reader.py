"""SQL by statement and dialect: which tables are found, and which statements are refused."""

from __future__ import annotations

import subprocess
import sys

import pytest

from policy.values import SQL_DIALECTS, SQL_KINDS, Sql, Unreadable, read_sql


def read(text: str, dialect: str | None = None) -> Sql:
    found = read_sql(text, dialect)
    assert isinstance(found, Sql), found
    return found


def kinds(found: Sql) -> list[str]:
    return [one.kind for one in found.statements]


def why(text: str, dialect: str | None = None) -> str:
    found = read_sql(text, dialect)
    assert isinstance(found, Unreadable), found
    return found.reason


@pytest.mark.parametrize(
    ("text", "kind", "reads", "writes"),
    [
        ("select a from t join s.u on t.x = u.x", "select", ["t", "s.u"], []),
        ("select (select max(x) from u) from t where y in (select z from v)", "select",
         ["t", "u", "v"], []),
        ("select 1 union all (select 2 from t)", "select", ["t"], []),
        ("values (1), (2)", "select", [], []),
        ("insert into t (a) select b from u", "insert", ["u"], ["t"]),
        ("update t set a = (select b from u) where c = 1", "update", ["u"], ["t"]),
        ("delete from t using u where t.x = u.x", "delete", ["u"], ["t"]),
        ("merge into t using u on t.x = u.x when matched then delete", "merge", ["u"], ["t"]),
        ("create table t as select * from u", "create", ["u"], ["t"]),
        ("create view v as select * from u", "create", ["u"], ["v"]),
        ("create index i on s.t (x)", "create", [], ["s.t"]),
        ("create table t (a int references u (b))", "create", ["u"], ["t"]),
        ("alter table t rename to u", "alter", [], ["t", "u"]),
        ("drop table if exists t, u", "drop", [], ["t", "u"]),
        ("truncate table t, u", "truncate", [], ["t", "u"]),
        ("grant select on t to bob", "grant", [], ["t"]),
        ("revoke select on t from bob", "revoke", [], ["t"]),
        ("comment on table t is 'x'", "comment", [], ["t"]),
        ("describe t", "describe", ["t"], []),
        ("begin", "begin", [], []),
        ("explain (analyze, verbose) delete from t", "delete", [], ["t"]),
    ],
)  # fmt: skip
def test_a_statement_has_a_kind_and_tables(
    text: str, kind: str, reads: list[str], writes: list[str]
) -> None:
    found = read(text, "postgres")
    assert (kinds(found), list(found.reads), list(found.writes)) == ([kind], reads, writes)
    assert kind in SQL_KINDS


@pytest.mark.parametrize(
    ("dialect", "text", "reads", "writes"),
    [
        ("mysql", "update a join b on a.x = b.x set b.y = 1", [], ["a", "b"]),
        ("mysql", "delete x from a x join b y on x.i = y.i", [], ["a", "b"]),
        ("mysql", "delete from a using a join b", ["a", "b"], ["a"]),
        ("tsql", "delete u from users u", [], ["users"]),
        ("tsql", "update u set a = 1 from users u join b on b.x = u.x", ["b"], ["users"]),
        ("tsql", "update users set a = 1 where exists (select 1 from b users)", ["b"], ["users"]),
        ("tsql", "select a into #new from [dbo].[Users]", ["dbo.users"], ["new"]),
        ("sqlite", "insert or replace into t values (1)", [], ["t"]),
    ],
)
def test_what_a_statement_changes_is_found_in_each_dialect(
    dialect: str, text: str, reads: list[str], writes: list[str]
) -> None:
    found = read(text, dialect)
    assert (list(found.reads), list(found.writes)) == (reads, writes)


def test_a_change_inside_of_a_query_is_a_statement_of_its_own() -> None:
    found = read("with x as (delete from t returning *) select * from x, u", "postgres")
    assert kinds(found) == ["delete", "select"]
    assert found.writes == ("t",) and found.reads == ("u",)


def test_a_select_into_creates() -> None:
    found = read("select * into b from a", "postgres")
    assert kinds(found) == ["create"] and found.writes == ("b",)


@pytest.mark.parametrize(
    ("text", "reads"),
    [
        ("with x as (select 1) select * from x", []),
        ("with x as (select * from x) select * from x", ["x"]),
        ("with recursive x as (select 1 union select * from x) select * from x", []),
        ("select * from x where exists (with x as (select 1) select * from x)", ["x"]),
        ("with a as (select 1), b as (select * from a) select * from b, A", ["a"]),
        ("with b as (select * from a), a as (select 1) select * from b", ["a"]),
        ("with x as (select 1) select * from s.x", ["s.x"]),
    ],
)
def test_a_name_is_no_table_only_where_its_with_is_seen(text: str, reads: list[str]) -> None:
    assert list(read(text, "postgres").reads) == reads


@pytest.mark.parametrize(
    ("dialect", "text", "names"),
    [
        ("postgres", 'select * from "Users", USERS, "users"', ["Users", "users"]),
        ("snowflake", 'select * from "Users", Users, "USERS", "users"',
         ['"Users"', "users", '"users"']),
        ("sqlite", 'select * from "Users", [USERS], `users`', ["users"]),
        ("mysql", "select * from `Shop` . `Users`", ["shop.users"]),
        ("postgres", 'select * from "my table"', ['"my table"']),
        ("postgres", "select * from grün", ["grün"]),
    ],
)  # fmt: skip
def test_names_are_folded_as_the_database_folds_them(
    dialect: str, text: str, names: list[str]
) -> None:
    assert list(read(text, dialect).tables) == names


@pytest.mark.parametrize("dialect", SQL_DIALECTS)
@pytest.mark.parametrize(
    "text",
    [
        "", " ; ", "-- nothing", "select * from", "drop database d", "drop schema s",
        "create function f() returns int language sql", "create trigger x after insert on t",
        "create user bob", "set role admin", "use d", "pragma x", "attach 'x' as y", "vacuum",
        "call f()", "exec f", "execute f", "exec xp_cmdshell 'x'", "do $$ begin end $$",
        "prepare p from 'x'", "copy t from '/x'", "copy t to program 'x'",
        "load data infile '/x' into table t", "select a into outfile '/x' from t",
        "select a from t into outfile '/x'", "select a from t into dumpfile '/x'",
        "select pg_read_file('/x')", "select lo_export(1, '/x')", "select load_file('/x')",
        "select load_extension('x')", "select * from dblink('x', 'y')", "select nextval('s')",
        "select * from openrowset('x', 'y', 'z')", "select * from pragma_table_info('t')",
        "select public.count(1)", "select query_to_xml('x')", "select sleep(5)",
        "select * from t where f(x)", "select * from :t", "select * from '/etc/passwd'",
        "select * from 'x.csv'", "delete from (select * from t)", "drop table t cascade",
        "truncate table t cascade", "alter table t drop column c cascade",
        "with x as (select * from t) update x set a = 1", "merge into",
        "create table t (a int) engine=federated connection='mysql://h/d/t'",
        "create external table t (a int) location 's3://b'",
        "select 1 /*! from t */", "select 1 /*M! from t */", "select /* a /* b */ 1 */",
        "select 1 /* from t", "select 'a", 'select "a', "select 1 \0", "select 1 -- a\r from t",
        "select * from t\u00a0where x", "select * from \u017fessions", "\\! ls",
        "select {{ x }} from t", "select 1 {# from t #}", 'select * from U&"d\\0061t"',
    ],
)  # fmt: skip
def test_what_cannot_be_known_is_not_read(text: str, dialect: str) -> None:
    assert why(text, dialect)
    assert why(text)


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("mysql", "select 1--1"),
        ("mysql", "select 'a\\' from t"),
        ("postgres", "select 'a\\'b' from t"),
        ("tsql", "select a from t shutdown"),
        ("tsql", "select 1 drop table t"),
        ("sqlite", "select 1 # 2"),
        ("postgres", "select `a` from t"),
    ],
)
def test_what_one_database_takes_differently_is_not_read(dialect: str, text: str) -> None:
    assert why(text, dialect)


@pytest.mark.parametrize(
    "text",
    [
        "select 1--1",
        "select '\\' from t -- '",
        "select 1 # from t",
        'select 1 as "a" from `t`',
        "select * from only t",
        'select * from "Users"',
    ],
)
def test_without_a_dialect_the_common_ones_have_to_agree(text: str) -> None:
    assert why(text)


@pytest.mark.parametrize("dialect", [None, *SQL_DIALECTS])
@pytest.mark.parametrize(
    "text",
    [
        "SELECT id, name FROM t WHERE id = 5 AND name LIKE 'a%' ORDER BY 1 LIMIT 3;",
        "select 'it''s; drop table u' from t -- drop table v",
        "select /* drop table u; */ count(*), max(x) from t group by y having sum(z) > 2",
        "select case when a = 1 then 'x' else null end from t",
        "select t.* from t where x between 1 and 2 or not (y is null)",
        "select a, row_number() over (partition by b order by c desc) from t",
    ],
)  # fmt: skip
def test_plain_queries_are_read_in_every_dialect(text: str, dialect: str | None) -> None:
    if dialect == "tsql" and "LIMIT" in text:
        text = text.replace(" LIMIT 3", "")
    found = read(text, dialect)
    assert (kinds(found), found.tables, found.writes) == (["select"], ("t",), ())


@pytest.mark.parametrize(
    "piece",
    ["(", "select (", "not ", "- ", "case when ", "select 1;", "/*", "'", "a.", "[", "$a$", "a,"],
)
@pytest.mark.parametrize("dialect", [None, "postgres", "tsql"])
def test_a_huge_or_deep_text_is_refused(piece: str, dialect: str | None) -> None:
    for size in (1_000, 90_000, 1_000_000):
        assert why("select " + piece * (size // len(piece)) + " 1 from", dialect)


def test_a_deep_query_is_refused_where_the_stack_is_short() -> None:
    def down(levels: int) -> str:
        return down(levels - 1) if levels else why("select " + "(" * 19 + "1" + ")" * 19 + " fro")

    assert down(500)


def test_nothing_is_printed_and_the_parser_is_loaded_when_it_is_needed() -> None:
    code = (
        "import sys, policy.values as v\n"
        "assert 'sqlglot' not in sys.modules\n"
        "for text in ('call f()', 'vacuum t', \"select json_extract(a, '$[') from t\", 'show x'):\n"
        "    v.read_sql(text, 'mysql')\n"
        "assert 'sqlglot' in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert (done.stdout, done.stderr) == (b"", b"")

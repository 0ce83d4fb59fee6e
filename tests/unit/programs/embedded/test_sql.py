"""SQL for a client program: which statements reach beyond the database."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy.programs.embedded.sql import read_sql

INSIDE = [
    "select 1",
    "select * from users where name = 'a(b); c' and x in (1, 2)",
    "insert into public.users (a, b) values (lower('x'), now())",
    "create table if not exists t (id integer primary key, n varchar(10), check (n > 0))",
    "create unique index i on t (lower(a))",
    "create virtual table f using fts5(a, b)",
    ".tables",
    ".mode csv\n.headers on\nselect * from t;",
    "\\dt",
    "\\d+ users",
    "PRAGMA table_info(users)",
    "begin; update t set a = 1 where b = 'x'; commit;",
    "with x (a) as (select 1) select a::int from x",
    "select a, row_number() over (partition by b) from t where exists (select 1)",
    "-- as was asked\nselect json_extract(a, '$.b') from t",
    "set names utf8",
]
RUNS = [
    "\\! id",
    ".shell id",
    ".l ./code",
    ". shell id",
    ".\n\tshell id",
    ".'shell' id",
    "\\T out",
    "system id",
    "source a.sql",
    "select 1; tee out",
    "delimiter //",
    "select :x",
    ":x",
    "do $$ begin execute 'x'; end $$",
    "prepare s from concat('co', 'py')",
    "set global general_log_file = 'x'",
    "alter system set archive_command = 'x'",
    "create function f returns int soname 'x'",
    "create foreign table t ()",
    "copy t to program 'x'",
    "pragma temp_store_directory = 'x'",
    "select 1 \\g |id",
    "handler t open",
]
TOUCHES = [
    "select data from zipfile('/x')",
    "select * from 'zipfile'('/x')",
    "select \"readfile\"('/x')",
    "select [unheard_of]('/x')",
    "select query_to_xml('co' || 'py', true, true, '')",
    "select query_to_xml -- so\n('a')",
    "select unheard_of/**/('x')",
    "select 'it' \"'\" || unheard_of('x') --'",
    "select * from a join b on unheard_of('a')",
    "create virtual table z using zipfile('x')",
    "create virtual table z using csv(filename = '/x')",
    "attach '/x' as y",
]


@pytest.mark.parametrize("text", INSIDE)
def test_ordinary_sql_stays_inside(text: str) -> None:
    assert not read_sql(text).accesses
    assert not read_sql(text).gap


@pytest.mark.parametrize("text", RUNS)
def test_what_may_run_programs_is_a_gap(text: str) -> None:
    assert read_sql(text).gap


@pytest.mark.parametrize("text", TOUCHES)
def test_a_function_that_is_not_known_may_touch_any_file(text: str) -> None:
    assert [(one.verb, one.name) for one in read_sql(text).accesses] == [
        ("reads", None),
        ("writes", None),
        ("connects", None),
    ]


@given(before=st.sampled_from(INSIDE), after=st.sampled_from(RUNS + TOUCHES))
def test_what_comes_after_ordinary_sql_is_seen(before: str, after: str) -> None:
    assert read_sql(f"{before};\n{after}").accesses

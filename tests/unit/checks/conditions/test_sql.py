"""Conditions about SQL where no SQL parser is installed."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from policy.values import Unreadable, read_sql
from policy.values.sql import reader
from tests.unit.checks.checking import only

RULE = 'look: allow web_fetch when sql(input.url, "postgres").writes == []'


@pytest.fixture
def without_reader(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setitem(sys.modules, "sqlglot", None)
    for remembered in (reader.can_read_sql, reader.read_sql):
        remembered.cache_clear()
    yield
    for remembered in (reader.can_read_sql, reader.read_sql):
        remembered.cache_clear()


def test_a_policy_that_needs_the_reader_of_sql_says_so(without_reader: None) -> None:
    found = only(RULE)
    assert found.code == "missing-extra"
    assert "placet[sql]" in found.help


def test_without_the_reader_no_sql_is_read(without_reader: None) -> None:
    assert isinstance(read_sql("select 1", "postgres"), Unreadable)

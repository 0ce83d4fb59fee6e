"""Reads SQL text: its statements with the tables that they read and write.

The text is tokenized twice, here and by the parser, and the two must agree on every quoted part.
Where no dialect is named, common ones must agree on every statement. The parser is heavy, an
optional extra of the package, and imported when the first text is read.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from importlib.util import find_spec

from policy.values.sql.dialect import COMMON_DIALECTS, SQL_DIALECTS, Dialect, cut
from policy.values.sql.statements import Sql, SqlStatement
from policy.values.unreadable import Unreadable

_LONGEST = 100_000

# `explain` is judged as the statement it explains: `explain analyze` runs it.
_EXPLAIN = re.compile(
    r"\A\s*explain\b(?:\s+(?:query\s+plan|analyze|verbose)\b)*(?:\s*\([\w\s,]*\))?"
    r"(?=\s*\(*\s*(?:select|with|insert|update|delete|merge)\b)",
    re.IGNORECASE,
)


@cache
def can_read_sql() -> bool:
    """Return whether the parser is installed."""
    return find_spec("sqlglot") is not None


@lru_cache(maxsize=64)
def read_sql(text: str, dialect: str | None = None) -> Sql | Unreadable:
    """Return the statements of `text` in this dialect, or as all the common ones read it."""
    if len(text) > _LONGEST:
        return Unreadable(reason=f"SQL longer than {_LONGEST} characters")
    if not can_read_sql():
        return Unreadable(reason="no SQL parser: install `placet[sql]`")
    names = COMMON_DIALECTS if dialect is None else (dialect,)
    found: Sql | None = None
    for name in names:
        read = _read(text, SQL_DIALECTS[name])
        if isinstance(read, Unreadable):
            return read if dialect else Unreadable(reason=f"{read.reason} (as {name})")
        if found is not None and read != found:
            return Unreadable(reason=f"SQL that {names[0]} and {name} read differently")
        found = read
    assert found is not None
    return found


def _read(text: str, dialect: Dialect) -> Sql | Unreadable:
    # Imported here: it takes half a second, which only policies with SQL conditions should pay.
    from policy.values.sql.parser import parse_sql
    from policy.values.sql.statement_reader import read_statement

    own = cut(_EXPLAIN.sub(_blank, text, count=1), dialect)
    trees = own if isinstance(own, Unreadable) else parse_sql(own, dialect.parser)
    if isinstance(trees, Unreadable):
        return trees
    found: list[SqlStatement] = []
    for tree in trees:
        read = read_statement(tree, dialect)
        if isinstance(read, Unreadable):
            return read
        found.extend(read)
    return Sql(statements=tuple(found)) if found else Unreadable(reason="SQL without a statement")


def _blank(found: re.Match[str]) -> str:
    return " " * len(found[0])

"""Reads one statement of the parser's tree: its type, and the tables it reads and writes.

An unknown part, property or function makes the whole statement unreadable: it could hide a change
of a table by a procedure, or a file opened by a function.
"""

from __future__ import annotations

from typing import Final

from sqlglot import exp

from policy.values.sql.dialect import Dialect
from policy.values.sql.known_nodes import (
    EFFECTIVE_FUNCTIONS,
    PLAIN_ENGINES,
    PLAIN_FUNCTIONS,
    PLAIN_PARTS,
    PLAIN_PROPERTIES,
    STATEMENT_WORDS,
)
from policy.values.sql.statements import SqlStatement
from policy.values.sql.tables import changed_tables, is_common, is_named, table_name
from policy.values.text import quote
from policy.values.unreadable import Unreadable

_KINDS: Final[tuple[tuple[type[exp.Expr], str], ...]] = (
    (exp.Insert, "insert"),
    (exp.Update, "update"),
    (exp.Delete, "delete"),
    (exp.Merge, "merge"),
    (exp.Create, "create"),
    (exp.Alter, "alter"),
    (exp.Drop, "drop"),
    (exp.TruncateTable, "truncate"),
    (exp.Grant, "grant"),
    (exp.Revoke, "revoke"),
    (exp.Comment, "comment"),
    (exp.Transaction, "begin"),
    (exp.Commit, "commit"),
    (exp.Rollback, "rollback"),
    (exp.Describe, "describe"),
    (exp.Select, "select"),
    (exp.SetOperation, "select"),
    (exp.Subquery, "select"),
    (exp.Values, "select"),
)
_CHANGES: Final = (exp.Insert, exp.Update, exp.Delete, exp.Merge)
_WRITE_NOTHING: Final = frozenset({"select", "describe", "begin", "commit", "rollback"})


def read_statement(tree: exp.Expr, dialect: Dialect) -> tuple[SqlStatement, ...] | Unreadable:
    """Return the statement, preceded by each nested one that changes data."""
    kind = next((kind for node, kind in _KINDS if isinstance(tree, node)), None)
    if kind is None:
        return Unreadable(reason=f"a statement whose effects are not known: {quote(tree.key)}")
    why = _unknown_object(tree) or next(
        (why for node in tree.walk() if (why := _unknown(node, dialect))), None
    )
    if why is not None:
        return Unreadable(reason=why)
    if kind == "select" and tree.find(exp.Into) is not None:
        kind = "create"
    inner = [node for node in tree.find_all(*_CHANGES) if node is not tree]
    found = [
        *(_described(node, kind=node.key, dialect=dialect) for node in reversed(inner)),
        _described(tree, kind=kind, dialect=dialect),
    ]
    if any(not one.writes and one.kind not in _WRITE_NOTHING for one in found):
        return Unreadable(reason="a change of an unnamed object")
    return tuple(found)


# ------------------------------------------------------------------ what is not known


def _unknown_object(tree: exp.Expr) -> str | None:
    """Return why the object of a statement is unknown, None if it is known."""
    match tree:
        case exp.Create() | exp.Drop() | exp.Alter() | exp.Comment():
            kind = str(tree.args.get("kind") or "").upper()
            if kind not in ("TABLE", "VIEW") and not (
                kind == "INDEX" and isinstance(tree, exp.Create)
            ):
                return f"`{tree.key}` of something other than a table: {quote(kind.lower())}"
        case exp.TruncateTable() if tree.args.get("is_database"):
            return "a `truncate` of a whole database"
        case exp.Describe() if not isinstance(tree.this, exp.Table):
            return "a description of something other than a table"
        case exp.Grant() | exp.Revoke():
            kind = str(tree.args.get("kind") or "TABLE").upper()
            if kind != "TABLE" or not isinstance(tree.args.get("securable"), exp.Table):
                return f"a `{tree.key}` on something other than a table"
        case _:
            pass
    return None


def _unknown(node: exp.Expr, dialect: Dialect) -> str | None:
    """Return why a part of a statement may have effects, None if it has none."""
    if isinstance(node, exp.Func):
        return _unknown_function(node)
    if isinstance(node, exp.Property):
        return _unknown_property(node)
    if node.key not in PLAIN_PARTS:
        return f"a part whose effects are not known: {quote(node.key)}"
    match node:
        case exp.Dot() if isinstance(node.expression, exp.Func):
            return "a function of a schema, which may do anything"
        case exp.Table() if not isinstance(node.this, exp.Func) and not is_named(node):
            return "a table without a literal name"
        case exp.Insert() | exp.Update() | exp.Delete() | exp.Merge() if any(
            is_common(table) for table, _ in changed_tables(node, dialect)
        ):
            return "a change through a `with` name"
        case exp.Drop() | exp.TruncateTable() if (
            node.args.get("cascade") or str(node.args.get("option")).upper() == "CASCADE"
        ):
            return "a `cascade`, which affects unnamed objects"
        case exp.Into() if dialect.parser in ("mysql", "sqlite"):
            return "a `select … into`, whose target may not be a table"
        case exp.Identifier() if dialect.parser == "tsql" and not node.args.get("quoted"):
            # Without a semicolon between them the next statement looks like a name.
            if node.name.lower() in STATEMENT_WORDS:
                return f"a word that begins a statement: {quote(node.name)}"
        case _:
            pass
    return None


def _unknown_function(node: exp.Func) -> str | None:
    name = node.name.lower() if isinstance(node, exp.Anonymous) else node.key
    plain = name in PLAIN_FUNCTIONS if _is_unknown(node) else name not in EFFECTIVE_FUNCTIONS
    return None if plain else f"a function that may do anything: {quote(name)}"


def _is_unknown(node: exp.Func) -> bool:
    return isinstance(node, (exp.Anonymous, exp.AnonymousAggFunc))


def _unknown_property(node: exp.Property) -> str | None:
    if isinstance(node, exp.EngineProperty) and node.name.lower() in PLAIN_ENGINES:
        return None
    return None if node.key in PLAIN_PROPERTIES else f"a property that is not known: {node.key}"


# ------------------------------------------------------------------ tables


def _described(tree: exp.Expr, *, kind: str, dialect: Dialect) -> SqlStatement:
    """Return the tables of a statement: those that it or a part of it changes, and the others."""
    changed = [
        pair
        for node in tree.find_all(type(tree), *_CHANGES, exp.Into, exp.Returning)
        for pair in changed_tables(node, dialect)
    ]
    owned = {id(table) for pair in changed for table in pair}
    reads = (
        table_name(table, dialect)
        for table in tree.find_all(exp.Table)
        if id(table) not in owned and not isinstance(table.this, exp.Func) and not is_common(table)
    )
    writes = (table_name(meant, dialect) for _, meant in changed)
    return SqlStatement(
        kind=kind, reads=tuple(dict.fromkeys(reads)), writes=tuple(dict.fromkeys(writes))
    )

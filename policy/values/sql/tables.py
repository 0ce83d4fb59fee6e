"""Finds the tables that a part of the parser's tree names and changes, by canonical names.

An unquoted name is folded as the database folds it, and always written in lower case.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from typing import Final

from sqlglot import exp

from policy.values.sql.dialect import Dialect

_SIMPLE_NAME: Final = re.compile(r"[^\W\d][\w$]*")
# Databases fold letters outside ASCII differently, so they stay as they are.
_SMALL: Final = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
_LARGE: Final = str.maketrans(string.ascii_lowercase, string.ascii_uppercase)


def table_name(table: exp.Table, dialect: Dialect) -> str:
    """Return the canonical name of a table, qualified as it is spelled.

    A part that would not parse as a name, or that only quotes distinguish from another, is quoted.
    """
    return ".".join(_part(part, dialect) for part in table.parts)


def _part(part: exp.Expr, dialect: Dialect) -> str:
    name, small = part.name, part.name.translate(_SMALL)
    if dialect.names == "any" or not part.args.get("quoted"):
        name = small
    elif dialect.names == "upper":
        if name != name.translate(_LARGE):
            return _quoted(name)
        name = small
    return name if _SIMPLE_NAME.fullmatch(name) else _quoted(name)


def _quoted(name: str) -> str:
    escaped = name.replace('"', '""')
    return f'"{escaped}"'


def is_named(table: exp.Table) -> bool:
    """Return whether a table is given by names; some databases take a path for a file."""
    parts = table.parts
    return bool(parts) and all(
        isinstance(part, exp.Identifier) and part.name and not re.search(r"[./\\:@*]", part.name)
        for part in parts
    )


def is_common(table: exp.Table) -> bool:
    """Return whether the name, spelled exactly so, is that of a `with` around it."""
    if table.args.get("db") or table.args.get("catalog"):
        return False
    came: exp.Expr = table
    place: int | None = None
    node = table.parent
    while node is not None:
        if isinstance(node, exp.With):
            # A query sees those before it, and itself if it may be recursive.
            place = _place(came, node) + bool(node.args.get("recursive"))
        within = node.args.get("with_")
        if within is not None:
            names = within.expressions if within is not came else within.expressions[:place]
            if any(one.args["alias"].this == table.this for one in names):
                return True
        came, node = node, node.parent
    return False


def _place(query: exp.Expr, within: exp.With) -> int:
    return next(place for place, one in enumerate(within.expressions) if one is query)


# ------------------------------------------------------------------ what a statement changes


def changed_tables(tree: exp.Expr, dialect: Dialect) -> Iterator[tuple[exp.Table, exp.Table]]:
    """Yield each table that this node itself changes: where it is named, and the table it means.

    `delete u from users u` names `u` and means `users`.
    """
    match tree:
        case exp.Insert() | exp.Merge() | exp.Into() | exp.Create():
            yield from _as_named(tree.this)
        case exp.Update():
            aliased = _heads(tree.args.get("from_")) if dialect.parser == "tsql" else ()
            yield from _meant(_heads(tree.this), tuple(aliased))
        case exp.Delete():
            listed = [one for table in tree.args.get("tables") or () for one in _heads(table)]
            sources = (*_heads(tree.this), *_all_heads(tree.args.get("using")))
            yield from _meant(iter(listed), sources)
            yield from _as_named(tree.this)
        case exp.Returning():
            yield from _as_named(tree.args.get("into"))
        case (
            exp.Alter()
            | exp.Drop()
            | exp.TruncateTable()
            | exp.Grant()
            | exp.Revoke()
            | (exp.Comment())
        ):
            yield from ((table, table) for table in tree.find_all(exp.Table))
        case _:
            return


def _as_named(node: object) -> Iterator[tuple[exp.Table, exp.Table]]:
    yield from ((table, table) for table in _heads(node))


def _meant(
    named: Iterator[exp.Table], sources: tuple[exp.Table, ...]
) -> Iterator[tuple[exp.Table, exp.Table]]:
    for table in named:
        alias = None if table.args.get("db") else table.name.translate(_SMALL)
        found = [one for one in sources if one.alias and one.alias.translate(_SMALL) == alias]
        yield from ((table, one) for one in found or [table])


def _all_heads(nodes: object) -> Iterator[exp.Table]:
    for node in nodes if isinstance(nodes, list) else (nodes,):
        yield from _heads(node)


def _heads(node: object) -> Iterator[exp.Table]:
    """Yield the table that a node names, and those that are joined to it."""
    match node:
        case exp.Table():
            yield node
            for join in node.args.get("joins") or ():
                yield from _heads(join.this)
        case exp.Index():
            yield from _heads(node.args.get("table"))
        case exp.Schema() | exp.From() | exp.Paren():
            yield from _heads(node.this)
        case _:
            return

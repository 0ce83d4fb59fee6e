"""Parse the text of one statement into its node, or report why it does not parse."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from policy.diagnostics import Diagnostic
from policy.model import Source
from policy.syntax import table_engine
from policy.syntax.builder import NodeBuilder
from policy.syntax.grammar import Start
from policy.syntax.tables import tables
from policy.syntax.tree import Engine, Header, Statement

if TYPE_CHECKING:
    from lark import UnexpectedInput


class ReadStatement(NamedTuple):
    """The result of parsing one statement: its node or the syntax error.

    `problems` are those found while its nodes were built; either result may have some.
    """

    node: Header | Statement | None
    problems: list[Diagnostic]
    error: UnexpectedInput | None


def parse_statement(
    source: Source, text: str, start: int, *, start_rule: Start, engine: Engine = "tables"
) -> ReadStatement:
    """Parse a statement whose text starts at `start`; errors come from Lark."""
    end = start + len(text)
    if engine == "tables":
        builder = NodeBuilder(source, start, end)
        node = table_engine.run(tables(), builder, text, start_rule=start_rule)
        if node is not None:
            return ReadStatement(node, builder.problems, None)
    # Takes a third of a second, and is needed only for errors.
    from policy.syntax import lark_engine

    builder = NodeBuilder(source, start, end)
    found = lark_engine.read(builder, text, start_rule=start_rule)
    if isinstance(found, Exception):
        return ReadStatement(None, builder.problems, found)
    return ReadStatement(found, builder.problems, None)

"""The text of one statement -> its node, or why it could not be read."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from policy.diagnostics import Diagnostic
from policy.model import Source
from policy.syntax import table_engine
from policy.syntax.builder import Builder
from policy.syntax.grammar import Start
from policy.syntax.tables import tables
from policy.syntax.tree import Engine, Header, Statement

if TYPE_CHECKING:
    from lark import UnexpectedInput


class ReadStatement(NamedTuple):
    """One statement as it was read: its node, or the error that kept it from being read.

    `problems` are the mistakes met while its nodes were built; there may be some beside either.
    """

    node: Header | Statement | None
    problems: list[Diagnostic]
    error: UnexpectedInput | None


def parse_statement(
    source: Source, text: str, start: int, *, start_rule: Start, engine: Engine = "tables"
) -> ReadStatement:
    """Read a statement, whose text stands at `start`; Lark says what is wrong with it."""
    end = start + len(text)
    if engine == "tables":
        builder = Builder(source, start, end)
        node = table_engine.run(tables(), builder, text, start_rule=start_rule)
        if node is not None:
            return ReadStatement(node, builder.problems, None)
    # Takes a third of a second, and most texts need none of it.
    from policy.syntax import lark_engine

    builder = Builder(source, start, end)
    found = lark_engine.read(builder, text, start_rule=start_rule)
    if isinstance(found, Exception):
        return ReadStatement(None, builder.problems, found)
    return ReadStatement(found, builder.problems, None)

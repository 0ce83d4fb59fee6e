"""The text of one statement -> its node, or why it could not be read."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from policy.diagnostics import Diagnostic
from policy.source import Source
from policy.syntax.builder import Builder
from policy.syntax.grammar import Start
from policy.syntax.tree import Header, Statement

if TYPE_CHECKING:
    from lark import UnexpectedInput

__all__ = ["Reading", "Start", "parse_statement"]


class Reading(NamedTuple):
    """One statement as it was read: its node, or the error that kept it from being read.

    `problems` are the mistakes met while its nodes were built; there may be some beside either.
    """

    node: Header | Statement | None
    problems: list[Diagnostic]
    error: UnexpectedInput | None


def parse_statement(
    source: Source, text: str, start: int, *, start_rule: Start, plain: bool = False
) -> Reading:
    """Read a statement, whose text stands at `start`; with `plain` by Lark itself."""
    from policy.syntax import by_lark

    builder = Builder(source, start, start + len(text))
    found = by_lark.read(builder, text, start_rule=start_rule)
    if isinstance(found, Exception):
        return Reading(None, builder.problems, found)
    return Reading(found, builder.problems, None)

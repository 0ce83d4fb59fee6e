"""The text of one statement -> its node, or why it could not be read."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from lark import UnexpectedInput

from policy.diagnostics import Diagnostic
from policy.source import Source
from policy.syntax import prebuilt
from policy.syntax.automaton import automaton
from policy.syntax.builder import Builder
from policy.syntax.driver import run
from policy.syntax.grammar import Start, digest, grammar_text
from policy.syntax.stacks import Stacks
from policy.syntax.tree import Header, Statement

__all__ = ["Reading", "Start", "parse_statement"]


class Reading(NamedTuple):
    """One statement as it was read: its node, or the error that kept it from being read.

    `problems` are the mistakes met while its nodes were built; there may be some beside either.
    """

    node: Header | Statement | None
    problems: list[Diagnostic]
    error: UnexpectedInput | None


def parse_statement(
    source: Source,
    text: str,
    start: int,
    *,
    start_rule: Start,
    plain: bool = False,
) -> Reading:
    """Read a statement, whose text stands at `start`; with `plain` by Lark itself.

    Lark also says what is wrong with a text that the prebuilt tables do not lead through.
    """
    end = start + len(text)
    stacks = None if plain else _prebuilt()
    if stacks is not None:
        builder = Builder(source, start, end)
        node = run(stacks, builder, text, start_rule=start_rule)
        if node is not None:
            return Reading(node, builder.problems, None)
    from policy.syntax import by_lark  # takes a tenth of a second, and most texts need none of it

    builder = Builder(source, start, end)
    found = by_lark.read(builder, text, start_rule=start_rule)
    if isinstance(found, Exception):
        return Reading(None, builder.problems, found)
    return Reading(found, builder.problems, None)


@cache
def _prebuilt() -> Stacks | None:
    """Return the prebuilt tables, unless they are those of another grammar than is at hand."""
    return Stacks(automaton()) if digest(grammar_text()) == prebuilt.GRAMMAR else None

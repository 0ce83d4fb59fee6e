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
from policy.syntax.phrases import Phrases
from policy.syntax.stacks import Stacks
from policy.syntax.tree import Expr, Header, Rule, Statement, When

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
    phrases: Phrases | None = None,
) -> Reading:
    """Read a statement, whose text stands at `start`; with `plain` by Lark itself.

    Lark also says what is wrong with a text that the prebuilt tables do not lead through. With
    `phrases`, a rule of which nothing is to be said may hold some of them.
    """
    end = start + len(text)
    stacks = None if plain else _prebuilt()
    if stacks is not None and phrases is not None:
        builder = Builder(source, start, end)
        node = run(stacks, builder, text, start_rule=start_rule, phrases=phrases)
        if type(node) is Rule and not builder.problems:
            return Reading(node, [], None)
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


def new_phrases() -> Phrases:
    """Return the phrases of files of which none has been read yet."""
    return Phrases(_read_test)


def _read_test(source: Source, text: str, start: int) -> Expr:
    """Read a condition, of which is known that it is one, at its place."""
    node = parse_statement(
        source, _BEFORE_A_TEST + text, start - len(_BEFORE_A_TEST), start_rule="statement"
    ).node
    assert isinstance(node, Rule)
    (clause,) = node.clauses
    assert isinstance(clause, When)
    return clause.test


# Any rule about which nothing is said will do.
_BEFORE_A_TEST = "allow x when "


@cache
def _prebuilt() -> Stacks | None:
    """Return the prebuilt tables, unless they are those of another grammar than is at hand."""
    return Stacks(automaton()) if digest(grammar_text()) == prebuilt.GRAMMAR else None

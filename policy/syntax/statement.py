"""The text of one statement -> its node, or why it could not be read."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from lark import Lark, UnexpectedInput

from policy.diagnostics import Diagnostic
from policy.source import Source
from policy.syntax import grammar
from policy.syntax.builder import WORK, Builder, Work
from policy.syntax.grammar import Start
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
    source: Source, text: str, start: int, *, start_rule: Start, plain: bool = False
) -> Reading:
    """Read a statement, whose text stands at `start`; with `plain` by Lark itself."""
    work = Work(source=source, start=start, end=start + len(text))
    token = WORK.set(work)
    try:
        node: Header | Statement = _lark().parse(text, start=start_rule)  # type: ignore[assignment]
    except UnexpectedInput as error:
        return Reading(None, work.problems, error)
    finally:
        WORK.reset(token)
    return Reading(node, work.problems, None)


@cache
def _lark() -> Lark:
    return grammar.build(Builder())

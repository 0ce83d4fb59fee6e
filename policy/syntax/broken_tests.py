"""The further errors of a test that does not parse: one in each of its cases, not the first alone.

What was read up to an error is blanked out, so that offsets stay, and the rest is parsed as a test
of its own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from policy.diagnostics import Diagnostic
from policy.model import Source
from policy.syntax import error_messages
from policy.syntax.lark_engine import offset_of
from policy.syntax.statement import parse_statement
from policy.syntax.statement_splitter import StatementText
from policy.syntax.tree import Engine

if TYPE_CHECKING:
    from lark import UnexpectedInput

_TITLE = re.compile(r'test[ \t]+"[^"\\\n]*(?:\\.[^"\\\n]*)*"[ \t]*(?=\n)')
# A line that may begin a case: not one that closes the object above it.
_LINE = re.compile(r"^([ \t]+)(?=[^\s)\]}])", re.MULTILINE)
_VISIBLE = re.compile(r"[^\n]")
# A test that is full of errors is probably one mistake many times.
_MOST = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rest:
    """The part of a test that is not read yet, all before it blanked out but for the title."""

    text: str
    start: int


def later_errors(
    source: Source,
    piece: StatementText,
    *,
    error: UnexpectedInput,
    engine: Engine,
) -> list[Diagnostic]:
    """Return the errors of a test behind its first `error`."""
    title = _TITLE.match(piece.text)
    if title is None:
        return []
    found: list[Diagnostic] = []
    rest = _behind(piece.text, title.end(), title.end(), offset_of(error, piece.text))
    while rest is not None and len(found) < _MOST:
        _, problems, later = parse_statement(
            source, rest.text, piece.start, start_rule="statement", engine=engine
        )
        found += problems
        if later is None:
            break
        left = piece._replace(text=rest.text)
        found.append(
            error_messages.describe(source, piece=left, error=later, start_rule="statement")
        )
        at = offset_of(later, rest.text)
        rest = _behind(piece.text, title.end(), rest.start, at)
    return found


def _behind(text: str, title: int, start: int, error_at: int) -> _Rest | None:
    """Return the rest of a test from the first step behind an error, None if there is none."""
    steps = [found.start() for found in _LINE.finditer(text, title) if _is_step(found, text, title)]
    line = text.rfind("\n", 0, error_at) + 1
    # An error at the beginning of a line is about what is missing at the end of the one above.
    is_missing = line in steps and line > start and not text[line:error_at].strip()
    behind = next(
        (step for step in steps if step > start and step >= line + (not is_missing)), None
    )
    if behind is None:
        return None
    blank = _VISIBLE.sub(" ", text[title:behind])
    return _Rest(text=text[:title] + blank + text[behind:], start=behind)


def _is_step(line: re.Match[str], text: str, title: int) -> bool:
    """Return whether a line is indented as the first one of the test is, or less."""
    first = _LINE.search(text, title)
    return first is not None and len(line[1]) <= len(first[1])

"""What Lark could not read -> a sentence in the language's words, at the offending token."""

from __future__ import annotations

from lark import UnexpectedInput

from policy.diagnostics import Diagnostic, diagnose
from policy.source import Source
from policy.syntax.cutter import Piece


def describe(source: Source, code: str, *, piece: Piece, error: UnexpectedInput) -> Diagnostic:
    """Return the diagnostic of a statement that did not parse."""
    found = error.pos_in_stream
    at = piece.end if found is None else min(piece.start + found, piece.end)
    return diagnose(
        "syntax-error", "this is no statement", span=source.span(at, min(at + 1, piece.end))
    )

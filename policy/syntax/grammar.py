"""The grammar files -> Lark's parser: finds them, reads them and builds the tables, once a process.

This is the one module of the core that reads a file: a packaged one, always the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, Literal

from lark import Lark, Transformer, lexer

Start = Literal["header", "statement"]
STARTS: tuple[Start, ...] = ("header", "statement")


@cache
def grammar_text() -> str:
    """Return the grammar with its terminals, as Lark reads them."""
    folder = _folder()
    return "\n".join(
        folder.joinpath(name).read_text("utf-8") for name in ("policy.lark", "terminals.lark")
    )


def build(transformer: Transformer[Any, Any] | None, *, strict: bool = False) -> Lark:
    """Build the tables; `strict` refuses what is ambiguous, and needs `interegular`."""
    with _collision_checks(wanted=strict):
        return Lark(
            grammar_text(),
            parser="lalr",
            lexer="contextual",
            start=list(STARTS),
            transformer=transformer,
            strict=strict,
        )


@contextmanager
def _collision_checks(*, wanted: bool) -> Iterator[None]:
    """Keep Lark from comparing all terminals, which it does wherever `interegular` can be found.

    That takes seconds, and says of the grammar only what a test says once and for all.
    """
    found = lexer.has_interegular
    lexer.has_interegular = found and wanted
    try:
        yield
    finally:
        lexer.has_interegular = found


def _folder() -> Traversable:
    package = files("policy")
    beside = package.joinpath("grammar")
    if beside.joinpath("policy.lark").is_file():
        return beside
    # An editable install has the grammar where the repository keeps it.
    return package.joinpath("..", "grammar")

"""Parse one statement with Lark itself: the reference engine, and the one that reports errors.

The table engine is tested against this one, and a statement that it cannot parse is parsed here
again, so that error messages depend on Lark and the grammar alone. Importing Lark and building its
tables takes a second, so this module is imported only when it is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any

from lark import Lark, Transformer, UnexpectedInput, lexer
from lark import Token as LarkToken

from policy.model import Source
from policy.syntax.builder import NodeBuilder
from policy.syntax.grammar import STARTS, grammar_text
from policy.syntax.tokens import Token
from policy.syntax.tree import Header, Statement

# Lark's callbacks receive only the children, and threads share its tables.
_BUILDER: ContextVar[NodeBuilder] = ContextVar("builder")


def read(
    builder: NodeBuilder, text: str, *, start_rule: str
) -> Header | Statement | UnexpectedInput:
    """Return the node of a statement, or the error that ended parsing."""
    token = _BUILDER.set(builder)
    try:
        return _lark().parse(text, start=start_rule)  # type: ignore[return-value]
    except UnexpectedInput as error:
        return error
    finally:
        _BUILDER.reset(token)


def place_of_error(text: str, *, start_rule: str) -> int:
    """Return how far a statement parses: the offset of its error, beyond its end without one."""
    found = read(NodeBuilder(Source(name="", text=text), 0, len(text)), text, start_rule=start_rule)
    return offset_of(found, text) if isinstance(found, Exception) else len(text) + 1


def offset_of(error: UnexpectedInput, text: str) -> int:
    """Return the offset of an error in a statement; its length where the text ends too early."""
    if getattr(getattr(error, "token", None), "type", None) == "$END":
        return len(text)
    found: int = error.pos_in_stream  # type: ignore[assignment]
    return min(max(found, 0), len(text))


def grammar() -> Lark:
    """Return the grammar as Lark holds it."""
    return _lark()


def build(transformer: Transformer[Any, Any] | None, *, strict: bool = False) -> Lark:
    """Build the tables; `strict` rejects ambiguities in the grammar and needs `interegular`."""
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
    """Keep Lark from comparing all terminals, which it does if `interegular` is installed.

    The comparison takes seconds and concerns only the grammar; a test makes it.
    """
    found = lexer.has_interegular
    lexer.has_interegular = found and wanted
    try:
        yield
    finally:
        lexer.has_interegular = found


def is_method(name: str) -> bool:
    """Return whether the builder has a method for a grammar rule of this name."""
    return not name.startswith("_") and callable(getattr(NodeBuilder, name, None))


@cache
def _lark() -> Lark:
    return build(_Calls())  # type: ignore[arg-type]


class _Calls:
    """A transformer for Lark that forwards to the builder of the current context."""

    def __getattr__(self, name: str) -> Callable[[list[Any]], Any]:
        if not is_method(name):
            raise AttributeError(name)
        method = getattr(NodeBuilder, name)

        def call(children: list[Any]) -> Any:
            builder = _BUILDER.get()
            return method(builder, [_given(child, builder.start) for child in children])

        return call


def _given(child: Any, start: int) -> Any:
    if not isinstance(child, LarkToken):
        return child
    assert child.start_pos is not None and child.end_pos is not None
    return Token(child.type, str(child), start + child.start_pos, start + child.end_pos)

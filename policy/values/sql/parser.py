"""Parses SQL text without comments into one tree per statement, with the sqlglot parser.

The only module that calls the parser: any exception in it means Unreadable. It logs nothing, and
returns no statement that the parser gave up on.
"""

from __future__ import annotations

from functools import cache
from typing import Final, NoReturn

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect as Language
from sqlglot.errors import ErrorLevel, ParseError
from sqlglot.parser import Parser
from sqlglot.tokenizer_core import Token, TokenType

from policy.values.sql.dialect import UncommentedSql
from policy.values.text import quote
from policy.values.unreadable import Unreadable

# The parser is recursive, and tries some levels in several ways.
_DEEPEST: Final = 20

_QUOTED: Final = frozenset(
    {
        TokenType.BIT_STRING,
        TokenType.BYTE_STRING,
        TokenType.HEREDOC_STRING,
        TokenType.HEX_STRING,
        TokenType.IDENTIFIER,
        TokenType.NATIONAL_STRING,
        TokenType.RAW_STRING,
        TokenType.STRING,
    }
)
# After these the parser takes everything that follows for one string.
_COMMANDS: Final = frozenset(
    {TokenType.COMMAND, TokenType.EXECUTE, TokenType.FETCH, TokenType.SHOW}
)
_OPENING: Final = frozenset({TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.CASE})
_CLOSING: Final = frozenset({TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.END})


def parse_sql(own: UncommentedSql, dialect: str) -> tuple[exp.Expr, ...] | Unreadable:
    """Return the trees of a text, if the parser finds the same quoted parts in it."""
    try:
        return _parsed(own, dialect)
    except RecursionError:
        return Unreadable(reason="SQL that is nested too deeply")
    except ParseError as error:
        return Unreadable(reason=_where(error))
    except Exception:  # noqa: BLE001 (the parser's other exceptions, and its bugs)
        return Unreadable(reason="SQL that cannot be parsed")


def _where(error: ParseError) -> str:
    if not error.errors:
        return str(error)
    first = error.errors[0]
    return f"SQL that cannot be parsed at line {first['line']}, column {first['col']}"


def _parsed(own: UncommentedSql, dialect: str) -> tuple[exp.Expr, ...] | Unreadable:
    language, parser = _tools(dialect)
    tokens = language.tokenize(own.text)
    command = next((token for token in tokens if token.token_type in _COMMANDS), None)
    if command is not None:
        return Unreadable(reason=f"a statement whose effects are not known: {quote(command.text)}")
    if tuple(token.end for token in tokens if token.token_type in _QUOTED) != own.quoted:
        return Unreadable(reason="quotes that SQL parsers interpret differently")
    if _depth(tokens) > _DEEPEST:
        return Unreadable(reason="SQL that is nested too deeply")
    trees = parser(dialect=language, error_level=ErrorLevel.IMMEDIATE).parse(tokens, own.text)
    return tuple(tree for tree in trees if tree is not None)


def _depth(tokens: list[Token]) -> int:
    depth = deepest = 0
    for token in tokens:
        depth += (token.token_type in _OPENING) - (token.token_type in _CLOSING)
        deepest = max(deepest, depth)
    return deepest


@cache
def _tools(dialect: str) -> tuple[Language, type[Parser]]:
    """Return the parser of a dialect, changed to stop where it would give up with a warning."""
    language = Language.get_or_raise(dialect)
    vars(language)["STRICT_JSON_PATH_SYNTAX"] = False
    return language, type("Silent", (language.parser_class,), {"_warn_unsupported": _give_up})


def _give_up(_: Parser) -> NoReturn:
    raise ParseError("a statement whose effects are not known")

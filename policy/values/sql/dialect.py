"""Removes comments from SQL text and locates its quoted parts, by the rules of a dialect.

Databases split the same text differently: where a comment ends, what a backslash escapes, whether
`--1` is a comment. This is a second tokenizer beside the parser's; `read_sql` compares the two. A
text that only some databases would split so, or that runs inside a comment, is Unreadable.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Literal

from policy.values.text import quote
from policy.values.unreadable import Unreadable


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """How one database splits text and compares names.

    `parser` is the parser's name for it. `quotes` are the characters that open a string or a name,
    `escaping` those of them inside which a backslash escapes the next character. `names` defines
    how names are compared: `lower` and `upper` fold unquoted names, `any` folds all names.
    """

    parser: str
    quotes: str = "'\""
    escaping: str = ""
    dollars: bool = False
    hash_comments: bool = False
    slash_comments: bool = False
    dashes_need_blank: bool = False
    escape_strings: bool = False
    names: Literal["lower", "upper", "any"] = "any"


_MYSQL = Dialect(
    parser="mysql", quotes="'\"`", escaping="'\"", hash_comments=True, dashes_need_blank=True
)

SQL_DIALECTS: Mapping[str, Dialect] = MappingProxyType(
    {
        "duckdb": Dialect(parser="duckdb", dollars=True, escape_strings=True),
        "mariadb": _MYSQL,
        "mysql": _MYSQL,
        "postgres": Dialect(parser="postgres", dollars=True, escape_strings=True, names="lower"),
        "snowflake": Dialect(parser="snowflake", escaping="'", slash_comments=True, names="upper"),
        "sqlite": Dialect(parser="sqlite", quotes="'\"`["),
        "tsql": Dialect(parser="tsql", quotes="'\"["),
    }
)

# Tried in turn where no dialect is named; they must agree.
COMMON_DIALECTS = ("postgres", "mysql", "sqlite")

# The parser takes some 20 µs per token.
_MOST_PIECES = 10_000
_CLOSING = {"[": "]"}
_ODD = re.compile(r"\0|\r(?!\n)")


@dataclass(frozen=True, slots=True, kw_only=True)
class UncommentedSql:
    """The text with blanks for its comments, and where its quoted parts end."""

    text: str
    quoted: tuple[int, ...]


def cut(text: str, dialect: Dialect) -> UncommentedSql | Unreadable:
    """Return `text` without its comments, by the rules of this dialect."""
    if odd := _ODD.search(text):
        return Unreadable(reason=f"a character at which some databases stop: {quote(odd[0])}")
    match = _pattern(dialect).match
    pieces: list[str] = []
    quoted: list[int] = []
    place = 0
    while place < len(text):
        found = match(text, place)
        if len(pieces) == _MOST_PIECES:
            return Unreadable(reason=f"SQL of more than {_MOST_PIECES} tokens")
        if found is None:
            return Unreadable(reason=_stopped(text, place))
        piece, place = found[0], found.end()
        if found.lastgroup == "quoted":
            quoted.append(place - 1)
        elif found.lastgroup == "comment":
            piece = " " * len(piece)
        elif not piece.isascii() and _folds_into_ascii(piece):
            return Unreadable(
                reason=f"a letter that some databases fold to another: {quote(piece)}"
            )
        pieces.append(piece)
    return UncommentedSql(text="".join(pieces), quoted=tuple(quoted))


def _stopped(text: str, place: int) -> str:
    rest = text[place : place + 24]
    if rest.startswith("/*"):
        return f"a comment that databases end, or run, differently: {quote(rest)}"
    if rest.startswith("--"):
        return f"`--` without a blank, which is not a comment in every database: {quote(rest)}"
    return f"text that databases split differently: {quote(rest)}"


def _folds_into_ascii(word: str) -> bool:
    return any(
        char > "\x7f" and (char.upper().isascii() or char.lower().isascii()) for char in word
    )


@cache
def _pattern(dialect: Dialect) -> re.Pattern[str]:
    """Return the pattern of the next token: a comment, a quoted part, or anything else."""
    bare = re.escape("".join({"'", '"', "`", *dialect.quotes, *"\\{}"}))
    other = rf"(?!--|/\*|[uU]&['\"])(?:[^\W\d][\w$]*|[0-9][\w.]*|\r?\n|[ \t]+|(?![{bare}])[!-~])"
    return re.compile(
        rf"(?P<comment>{'|'.join(_comments(dialect))})"
        rf"|(?P<quoted>{'|'.join(_quoted(dialect))})|(?P<other>{other})",
        re.DOTALL,
    )


def _comments(dialect: Dialect) -> list[str]:
    # Neither `/*! … */`, which MySQL runs, nor a nested comment, which some databases end early.
    found = [r"/\*(?!M?!)(?:[^*/]|\*(?!/)|/(?!\*))*+\*/"]
    found.append(r"--(?=\s|\Z)[^\n]*" if dialect.dashes_need_blank else r"--[^\n]*")
    if dialect.hash_comments:
        found.append(r"\#[^\n]*")
    if dialect.slash_comments:
        found.append(r"//[^\n]*")
    return found


def _quoted(dialect: Dialect) -> list[str]:
    found = [r"[eE]'(?:[^'\\]|\\.|'')*+'"] if dialect.escape_strings else []
    for opening in dialect.quotes:
        start, end = re.escape(opening), re.escape(_CLOSING.get(opening, opening))
        hidden, escape = (r"\\", r"|\\.") if opening in dialect.escaping else ("", "")
        found.append(rf"{start}(?:[^{end}{hidden}]{escape}|{end}{end})*+{end}")
    if dialect.dollars:
        found.append(r"\$(?P<tag>(?:[^\W\d]\w*)?)\$.*?\$(?P=tag)\$")
    return found

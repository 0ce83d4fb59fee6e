"""Describe a syntax error in the terms of the language, at the offending token.

Common mistakes have messages of their own; see `mistakes`. For any other error the message names
the token, and the help what could be there instead.
"""

from __future__ import annotations

import re
from functools import partial

from lark import UnexpectedInput

from policy.diagnostics import Diagnostic, diagnose, visible
from policy.model import Source
from policy.syntax import brackets
from policy.syntax.accepted_terminals import accepted_terminals
from policy.syntax.foreign_characters import FOREIGN, foreign_character
from policy.syntax.grammar import Start
from policy.syntax.keyword_typos import find_typo, keywords_of
from policy.syntax.lark_engine import grammar, offset_of, place_of_error
from policy.syntax.missing_words import find_missing
from policy.syntax.mistakes import MISTAKES, meant
from policy.syntax.statement_splitter import StatementText
from policy.syntax.terminal_names import any_of, keywords_among, spellings, wanted

_TOKEN = re.compile(
    r'"(?:[^"\\\n]|\\.)*"?|[A-Za-z0-9_]+(?:[.-][A-Za-z0-9_]+)*|->|[=!<>]=|\.\.|[^\s]'
)
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*("?)')
# How much of the text before a token is searched for a mistake.
_BEFORE = 200


def describe(
    source: Source,
    *,
    piece: StatementText,
    error: UnexpectedInput,
    start_rule: Start,
    typos: bool = True,
) -> Diagnostic:
    """Return the diagnostic of a statement that did not parse.

    `typos` is whether to look for mistyped and missing keywords, which parses the statement again.
    """
    text = piece.text
    at = offset_of(error, text)
    accepted = accepted_terminals(error)
    mistyped = (partial(_typo, start_rule),) if typos else ()
    missing = (partial(_missing, start_rule),) if typos else ()
    for find in (_foreign, _unclosed_string, _brackets, *mistyped, _common, *missing):
        found = find(text, at, accepted)
        if found is not None:
            start, end, code, message, help = found
            span = source.span(piece.start + start, piece.start + end)
            return diagnose(code, message, span=span, help=help)
    if at >= len(text):
        return _unfinished(source, piece, accepted)
    return _unexpected(source, piece, text, at=at, accepted=accepted)


# A range of the statement's text, and a code, a message and help.
_Found = tuple[int, int, str, str, str]


# ------------------------------------------------------------------ what is wrong


def _foreign(text: str, at: int, accepted: frozenset[str]) -> _Found | None:
    """Find a character that only resembles one of the language."""
    place = foreign_character(text, at)
    if place is None:
        return None
    char = text[place]
    what, instead = FOREIGN[char]
    shown = char if char.isprintable() and not char.isspace() else f"U+{ord(char):04X}"
    help = {"": "remove it", " ": "write a plain space"}.get(instead, f"write `{instead}`")
    return place, place + 1, "syntax-error", f"`{shown}` is {what}", help


def _unclosed_string(text: str, at: int, accepted: frozenset[str]) -> _Found | None:
    """Find a string without its closing quote earlier on the line of the error."""
    start = text.rfind("\n", 0, at) + 1
    end = text.find("\n", at)
    strings = list(_STRING.finditer(text, start, len(text) if end < 0 else end))
    if not strings or strings[-1][1] or strings[0].start() >= at:
        return None
    if strings[-1].start() == at:
        return None  # this string is the one that is not closed
    return (
        strings[0].start(),
        strings[-1].end(),
        "syntax-error",
        "one of the strings on this line is not closed",
        'each string begins and ends with `"`, on one line',
    )


def _brackets(text: str, at: int, accepted: frozenset[str]) -> _Found | None:
    """Find a bracket that is never closed, or that closes none."""
    closing = text[at : at + 1]
    opened = brackets.innermost_open(text, at)
    if closing in brackets.PAIRS.values() and opened is None:
        opening = next(one for one, other in brackets.PAIRS.items() if other == closing)
        message = f"this `{closing}` closes nothing"
        return at, at + 1, "syntax-error", message, f"remove it, or add the `{opening}` before it"
    if opened is None or brackets.is_closed(text, opened):
        return None
    wanted = brackets.PAIRS[text[opened]]
    if at < len(text) and not text.startswith("->", at):
        return None  # the error is probably another one
    message = f"this `{text[opened]}` is never closed"
    return opened, opened + 1, "syntax-error", message, f"close it with `{wanted}`"


def _typo(start_rule: Start, text: str, at: int, accepted: frozenset[str]) -> _Found | None:
    """Find a mistyped keyword."""
    typo = find_typo(
        text, at, keywords_of(grammar()), partial(place_of_error, start_rule=start_rule)
    )
    if typo is None:
        return None
    word = text[typo.start : typo.end]
    same = word.lower() == typo.keyword
    help = "keywords are written in lower case: `{}`" if same else "did you mean `{}`?"
    return (
        typo.start,
        typo.end,
        "syntax-error",
        f"`{_short(word)}` is not a keyword",
        help.replace("{}", typo.keyword),
    )


def _common(text: str, at: int, accepted: frozenset[str]) -> _Found | None:
    """Find a common mistake."""
    start = max(0, at - _BEFORE)
    for mistake in MISTAKES:
        place = mistake.place(text, at, start=start, accepted=accepted)
        if place is not None:
            first, last = place
            message, help = mistake.said(_short(text[first:last]))
            return first, min(last, len(text)), mistake.code, message, help
    return None


def _missing(start_rule: Start, text: str, at: int, accepted: frozenset[str]) -> _Found | None:
    """Find a missing word."""
    token = _TOKEN.match(text, at)
    is_string = token is not None and token[0].startswith('"')
    possible = [
        word for word in spellings(accepted) if not (is_string and word in _BEFORE_CONDITIONS)
    ]
    words = find_missing(text, at, possible, partial(place_of_error, start_rule=start_rule))
    if token is None or not 0 < len(words) <= _MOST_MISSING:
        return None
    shown = [f"`{word}`" for word in sorted(words)]
    before = f"before `{_short(token[0])}`"
    if len(words) == 1:
        message, help = f"{shown[0]} is missing {before}", f"write `{words[0]} {_short(token[0])}`"
    else:
        message, help = f"a word is missing {before}", f"write {any_of(shown)} before it"
    return at, token.end(), "syntax-error", message, help


# A string is no condition.
_BEFORE_CONDITIONS = frozenset({"when", "unless", "and", "or", "not"})
# Of more words, none is likely to be the missing one.
_MOST_MISSING = 4

# ------------------------------------------------------------------ any other error


def _unexpected(
    source: Source, piece: StatementText, text: str, *, at: int, accepted: frozenset[str]
) -> Diagnostic:
    token = _TOKEN.match(text, at)
    end = token.end() if token else at + 1
    word = _short(text[at:end])
    return diagnose(
        "syntax-error",
        f"`{word}` does not begin a statement" if at == 0 else f"unexpected `{word}`",
        span=source.span(piece.start + at, piece.start + end),
        help=_STATEMENTS if at == 0 else meant(word, keywords_among(accepted)) or wanted(accepted),
    )


_STATEMENTS = (
    "a statement begins with a word in the first column, such as `allow`, `deny`, `paths`, `test`, "
    "or the name of a rule and a colon"
)


def _unfinished(source: Source, piece: StatementText, accepted: frozenset[str]) -> Diagnostic:
    return diagnose(
        "syntax-error",
        "the statement is incomplete",
        span=source.span(piece.end, piece.end),
        help=wanted(accepted) + "; a line that continues it is indented",
    )


def _short(text: str) -> str:
    return visible(text.split("\n", 1)[0], 40)

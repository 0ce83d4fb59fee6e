"""The strings for which a test of one value is true, as languages."""

from __future__ import annotations

from functools import lru_cache

from policy.checks import checked
from policy.solving import (
    ANY_TEXT,
    Either,
    Expression,
    Language,
    Row,
    TooLarge,
    language,
    literal,
)
from policy.symbolic.patterns.globs import text_glob
from policy.symbolic.patterns.regexes import Unread, found_in_text, whole_text
from policy.values import normalise


def language_of(test: checked.Test) -> Language | None:
    """Return the strings for which a test of a pattern is true; None for any other test.

    None as well for a pattern that is not translated.
    """
    match test:
        case checked.LikeTest(pattern=pattern):
            return _language("like", pattern)
        case checked.RegexTest(pattern=pattern, whole=whole):
            return _language("matches" if whole else "contains a match", pattern)
        case checked.TextRelation(op=op, right=checked.Constant(value=str() as right)):
            return _language(op, right)
        case _:
            return None


def is_about_the_end(test: checked.Test) -> bool:
    """Return whether a test asks whether a string ends with letters that combine with no others."""
    match test:
        case checked.TextRelation(op="ends with", right=checked.Constant(value=str() as end)):
            return end.isascii()
        case checked.LikeTest(pattern=pattern):
            return pattern.startswith("*") and pattern[1:].isascii() and _is_plain(pattern[1:])
        case _:
            return False


def _is_plain(pattern: str) -> bool:
    return "*" not in pattern and "?" not in pattern


@lru_cache(maxsize=4096)
def any_of_these(texts: tuple[str, ...]) -> Language | None:
    """Return the language of a few strings; None if they are too many."""
    try:
        return language(Either(tuple(map(literal, texts))))
    except TooLarge:
        return None


@lru_cache(maxsize=4096)
def language_of_names(names: tuple[str, ...], *, patterns: bool) -> Language | None:
    """Return the names, normalised, to which the header of a layer applies.

    None if it has too many.
    """
    read = text_glob if patterns else literal
    try:
        return language(Either(tuple(read(normalise(name)) for name in names)))
    except TooLarge:
        return None


@lru_cache(maxsize=4096)
def _language(relation: str, text: str) -> Language | None:
    try:
        return language(_expression(relation, text))
    except (TooLarge, Unread):
        return None


def _expression(relation: str, text: str) -> Expression:
    match relation:
        case "like":
            return text_glob(text)
        case "matches":
            return whole_text(text)
        case "contains a match":
            return found_in_text(text)
        case "starts with":
            return Row((literal(text), ANY_TEXT))
        case "ends with":
            return Row((ANY_TEXT, literal(text)))
        case _:
            return Row((ANY_TEXT, literal(text), ANY_TEXT))

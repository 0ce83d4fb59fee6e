"""Finds a mistyped keyword: one without which the parser gets further.

The words around an error are compared with the keywords of the grammar. A word was mistyped if the
statement with the similar keyword in its place parses beyond the error.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from lark import Lark

from policy.diagnostics import near_words

# A keyword's pattern in the grammar ends where no letter, digit, `_` or `-` follows.
_ENDS_AS_WORD = "(?![A-Za-z0-9_"
_LETTERS = re.compile(r"[a-z]{2,}")
_STRING_OR_WORD = re.compile(r'"(?:[^"\\\n]|\\.)*"?|(?<![\w.$-])[A-Za-z]+(?![\w.(-])')
# The first words of facts are similar to keywords, and right.
_FACTS = frozenset("input call tool agent session user context workspace now".split())
# Longer statements are not parsed again and again.
_LONGEST = 2_000
# How much of the text before an error is searched for words.
_BEFORE = 200


class Typo(NamedTuple):
    """A mistyped word: its range, and the keyword that was probably meant."""

    start: int
    end: int
    keyword: str


@cache
def keywords_of(lark: Lark) -> frozenset[str]:
    """Return the words that a grammar reserves somewhere, parts of longer keywords among them."""
    patterns = (terminal.pattern.value for terminal in lark.terminals)
    return frozenset(
        word
        for pattern in patterns
        if _ENDS_AS_WORD in pattern
        for word in _LETTERS.findall(pattern.partition(_ENDS_AS_WORD)[0])
    )


def find_typo(
    text: str, at: int, keywords: frozenset[str], place_of_error: Callable[[str], int]
) -> Typo | None:
    """Return the mistyped keyword at an error or beside it, None if there is none.

    `place_of_error` returns how far a statement parses. Of several keywords, the one is meant with
    which it parses furthest.
    """
    if len(text) > _LONGEST:
        return None
    for start, end in _words_around(text, at):
        word = text[start:end]
        if word in keywords or word in _FACTS:
            continue
        best = max(at, end)
        meant = None
        for keyword in _similar(word, keywords):
            changed = f"{text[:start]}{keyword}{text[end:]}"
            reached = place_of_error(changed) - (len(keyword) - len(word))
            if reached > best:
                best, meant = reached, keyword
        if meant is not None:
            return Typo(start, end, meant)
    return None


def _words_around(text: str, at: int) -> list[tuple[int, int]]:
    """Return the word at an offset, the two before it and the one after it, in this order."""
    found = [
        one.span()
        for one in _STRING_OR_WORD.finditer(text, max(0, at - _BEFORE), at + _BEFORE)
        if text[one.start()] != '"'
    ]
    here = [span for span in found if span[0] <= at < span[1]]
    before = [span for span in found if span[1] <= at]
    after = [span for span in found if span[0] > at]
    return [*here, *reversed(before[-2:]), *after[:1]]


def _similar(word: str, keywords: frozenset[str]) -> list[str]:
    lower = word.lower()
    return [lower] if lower in keywords else list(near_words(lower, keywords))

"""Finds words that look like others, by Unicode's table of confusable characters."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from policy.values import quote, skeleton

_WORD = re.compile(r"[^\W\d_]+")
_MOST_WORDS = 8


def disguised_words(text: str) -> Iterator[str]:
    """Yield a sentence for the words of a text that are not the ones that a reader sees.

    A word of letters that look like ASCII ones; in a text of another script, one that mixes both.
    """
    if text.isascii():
        return
    words = {word for word in _WORD.findall(text) if not word.isascii()}
    is_latin = _is_mostly_ascii(text)
    found = sorted(word for word in words if _is_disguised(word, is_latin=is_latin))
    if found:
        some = ", ".join(f"{quote(word)} ({_letters(word)})" for word in found[:_MOST_WORDS])
        yield f"words that look like others: {some}"


def _is_disguised(word: str, *, is_latin: bool) -> bool:
    """Return whether a word looks like one of ASCII letters."""
    looks = skeleton(word)
    has_both = any(char.isascii() for char in word)
    return looks.isascii() and looks.isalpha() and (has_both or is_latin)


def _is_mostly_ascii(text: str) -> bool:
    letters = [char for char in text if char.isalpha()]
    return 2 * sum(char.isascii() for char in letters) >= len(letters)


def _letters(word: str) -> str:
    """Return the letters that are not ASCII, by code point and name."""
    others = dict.fromkeys(char for char in word if not char.isascii())
    named = [f"U+{ord(char):04X} {unicodedata.name(char, 'without a name')}" for char in others]
    return ", ".join(named[:_MOST_WORDS])

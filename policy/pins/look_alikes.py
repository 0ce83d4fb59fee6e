"""Finds names and words that look like others, by Unicode's table of confusable characters.

The table comes with the package `confusable-homoglyphs`, which lists it in both directions. The
skeleton of Unicode's Technical Standard 39 is computed here: two strings that look alike have the
same one. Compatibility forms (full width, mathematical letters) count as the letters they are for.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from functools import cache

from policy.values import quote, without_invisible

_WORD = re.compile(r"[^\W\d_]+")
_MOST_WORDS = 8
# The table marks characters of scripts that are written from the right.
_MARK = "\u200e"


def skeleton(text: str) -> str:
    """Return what a string looks like; only for comparison, it is no text."""
    shown = unicodedata.normalize("NFKD", without_invisible(text))
    looks = _replaced(shown)
    # A prototype may hold a mark that has one as well: `Ø` is an `O` with one of two slashes.
    while looks != shown:
        shown, looks = looks, _replaced(looks)
    return looks


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


def _replaced(text: str) -> str:
    prototypes = _prototypes()
    return unicodedata.normalize("NFKD", "".join(prototypes.get(char, char) for char in text))


@cache
def _prototypes() -> Mapping[str, str]:
    """Return the character or characters that stand for each confusable one."""
    # Only a review needs the table, and reading it takes some 50 ms.
    from confusable_homoglyphs.confusables import confusables_data

    pairs = {
        _unmarked(char): [_unmarked(other["c"]) for other in others]
        for char, others in confusables_data.items()
    }
    # A confusable character has one prototype. A prototype lists all that look like it; where that
    # is one as well, the two list each other, and the smaller stands for both.
    found = {}
    for char, others in pairs.items():
        if len(char) == 1 and len(others) == 1:
            (other,) = others
            is_mutual = pairs.get(other) == [char]
            found[char] = min(char, other) if is_mutual else other
    return found


def _unmarked(text: str) -> str:
    return text.replace(_MARK, "")

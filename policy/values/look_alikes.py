"""What characters look like, by Unicode's table of confusable ones.

The table comes with the package `confusable-homoglyphs`, which lists it in both directions. The
skeleton of Unicode's Technical Standard 39 is computed here: two strings that look alike have the
same one. Compatibility forms (full width, mathematical letters) count as the letters they are for.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping
from functools import cache, lru_cache

from policy.values.text import normal_form, without_invisible

# The table marks characters of scripts that are written from the right.
_MARK = "\u200e"


def skeleton(text: str) -> str:
    """Return what a string looks like; only for comparison, it is no text."""
    shown = normal_form(without_invisible(text), "NFKD")
    looks = _replaced(shown)
    # A prototype may hold a mark that has one as well: `Ø` is an `O` with one of two slashes.
    while looks != shown:
        shown, looks = looks, _replaced(looks)
    return looks


def ascii_readings(text: str) -> tuple[str, ...]:
    """Return a text in the ASCII letters that it looks like; nothing if it does not look like any.

    A capital may look like one letter, and its small form like another: `Ν` is an N, and `ν` a v.
    """
    if text.isascii():
        return (text,)
    shown = normal_form(without_invisible(text), "NFKD")
    marks = {ord(char): None for char in set(shown) if unicodedata.category(char)[0] == "M"}
    bare = shown.translate(marks) if marks else shown
    found = (_in_ascii(bare, first) for first in (str, str.lower))
    return tuple(dict.fromkeys(one for one in found if one is not None))


def _in_ascii(text: str, first: Callable[[str], str]) -> str | None:
    looks: dict[int, str] = {}
    for char in set(text):
        look = _ascii_look(char, first)
        if look is None:
            return None
        looks[ord(char)] = look
    return text.translate(looks)


@lru_cache(maxsize=16_384)
def _ascii_look(char: str, first: Callable[[str], str]) -> str | None:
    """Return what a character looks like, in one letter case or the other; None for a letter."""
    if char.isascii():
        return char
    if char.isdecimal():
        return str(unicodedata.decimal(char))
    if not char.isalnum() and char not in _prototypes():
        return " "
    looks = (skeleton(each) for each in (first(char), char, char.swapcase()))
    found = next((one for one in looks if one.isascii() and one.isalnum()), None)
    return found if found or char.isalnum() else " "


def _replaced(text: str) -> str:
    prototypes = _prototypes()
    return normal_form("".join(prototypes.get(char, char) for char in text), "NFKD")


@cache
def _prototypes() -> Mapping[str, str]:
    """Return the character or characters that stand for each confusable one."""
    # Imported here, as reading it takes some 50 ms and few texts need it.
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

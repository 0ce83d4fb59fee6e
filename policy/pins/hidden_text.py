"""Finds what a person who reads a text does not see of it, and a model does."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator

from policy.values import is_hidden, quote

_MOST_NAMED = 8
# Tag characters copy ASCII, with nothing to be seen; some models read them.
_TAGS = range(0xE0020, 0xE007F)
# Bytes are smuggled in long runs of variation selectors. A single one picks the form of an emoji.
_SELECTORS = (range(0xFE00, 0xFE10), range(0xE0100, 0xE01F0))
_LINES = frozenset("\n\r\t")
# What looks like a space, or like nothing at all.
_ODD_SPACES = frozenset("\u2800\u00a0")
_BLANK = re.compile(r"\s+")
_MOST_LINES = 12
_LONGEST_BLANK = 60


def hidden_text(text: str) -> Iterator[str]:
    """Yield one sentence for each way in which a text hides something."""
    hidden = Counter(char for char in _unseen(text) if char not in _LINES)
    if hidden:
        yield f"hidden characters: {_named(hidden)}"
    tags = "".join(chr(ord(char) - 0xE0000) for char in text if ord(char) in _TAGS)
    if tags:
        yield f"tag characters that spell {quote(tags)}"
    spaces = Counter(char for char in text if _is_odd_space(char))
    if spaces:
        yield f"characters that look like spaces: {_named(spaces)}"
    after = _after_long_blank(text)
    if after:
        yield f"text out of sight, after a long blank: {quote(after)}"


def _after_long_blank(text: str) -> str:
    """Return the beginning of what follows the first long blank, empty if there is none."""
    for blank in _BLANK.finditer(text):
        lines = blank[0].split("\n")
        if len(lines) > _MOST_LINES or max(map(len, lines)) >= _LONGEST_BLANK:
            return text[blank.end() :][:200]
    return ""


def _unseen(text: str) -> Iterator[str]:
    """Yield the hidden characters, but for a selector that follows a symbol."""
    before = ""
    for char in text:
        if is_hidden(char) and not (_is_selector(char) and _is_symbol(before)):
            yield char
        before = char


def _is_selector(char: str) -> bool:
    return any(ord(char) in one for one in _SELECTORS)


def _is_symbol(char: str) -> bool:
    return bool(char) and unicodedata.category(char) in ("So", "Sm", "Po", "Nd")


def _is_odd_space(char: str) -> bool:
    return char in _ODD_SPACES or (char != " " and unicodedata.category(char) == "Zs")


def _named(found: Counter[str]) -> str:
    """Return characters by code point and name, each with its number."""
    parts = [
        f"U+{ord(char):04X} {unicodedata.name(char, 'without a name')}"
        + (f" ({count} times)" if count > 1 else "")
        for char, count in sorted(found.items())[:_MOST_NAMED]
    ]
    left = len(found) - _MOST_NAMED
    return ", ".join(parts) + (f" and {left} others" if left > 0 else "")

"""Untrusted text for display: escapes everything hidden, and counts columns."""

from __future__ import annotations

import unicodedata

from policy.values import escape_for_display

_NO_LIMIT = 1 << 62


def visible(text: str, limit: int | None = None) -> str:
    r"""Return `text` on one line, with hidden and reordering characters escaped: `\u{202e}`.

    With a `limit`, at most that many characters are shown, followed by the number of omitted ones:
    `…[+12]`.
    """
    if text.isascii() and text.isprintable() and (limit is None or len(text) <= limit):
        return text
    return escape_for_display(text, _NO_LIMIT if limit is None else limit)


def width(char: str) -> int:
    """Return how many terminal columns a character takes, one that is not hidden."""
    if unicodedata.combining(char) or unicodedata.category(char) in {"Mn", "Me"}:
        return 0
    return 2 if unicodedata.east_asian_width(char) in {"W", "F"} else 1

"""Text from elsewhere in, text that shows what it holds out: nothing hidden, nothing reordered.

Control, bidirectional and invisible characters become `<U+202E>`, so that no policy, tool name or
input can move the cursor, swap the order of what is read, or pass for something else.
"""

from __future__ import annotations

import unicodedata

_HIDDEN_KINDS = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
# Letters and marks that are drawn as nothing (Unicode's Default_Ignorable_Code_Point).
_HIDDEN_RANGES = (
    (0x034F, 0x034F),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x3164, 0x3164),
    (0xFE00, 0xFE0F),
    (0xFFA0, 0xFFA0),
    (0xE0000, 0xE0FFF),
)


def visible(text: str, limit: int | None = None) -> str:
    """Return `text` on one line with every hidden character spelled out.

    With a `limit`, at most that many characters of `text` are shown and a cut is marked `…`.
    """
    shown = text if limit is None or len(text) <= limit else text[:limit]
    if shown.isascii() and shown.isprintable():
        result = shown
    else:
        result = "".join(map(spelled, shown))
    return result if len(shown) == len(text) else result + "…"


def spelled(char: str) -> str:
    """Return one character as itself, or as `<U+….>` if it would not be seen."""
    return f"<U+{ord(char):04X}>" if is_hidden(char) else char


def is_hidden(char: str) -> bool:
    """Tell whether a character is drawn as nothing or steers how others are drawn."""
    if unicodedata.category(char) in _HIDDEN_KINDS:
        return True
    point = ord(char)
    return any(first <= point <= last for first, last in _HIDDEN_RANGES)


def width(char: str) -> int:
    """Return how many terminal columns a character takes, one that is not hidden."""
    if unicodedata.combining(char) or unicodedata.category(char) in {"Mn", "Me"}:
        return 0
    return 2 if unicodedata.east_asian_width(char) in {"W", "F"} else 1

"""Texts as they are searched for what was copied from one into another."""

from __future__ import annotations

import re
import unicodedata
from urllib.parse import unquote

from policy.values.text import without_invisible

_WHITE_SPACE = re.compile(r"\s+")
# How often what is escaped may have been escaped again.
_ROUNDS = 3


def folded_for_search(text: str) -> str:
    """Return a text without letter case, white space, invisible characters and escapes.

    Percent and entity escapes are read, also where they are escaped themselves. Two texts that
    differ in nothing else are equal in this form; others may be as well.
    """
    for _ in range(_ROUNDS):
        read = text
        if "%" in read:
            read = unquote(read, errors="replace")
        if "&" in read:
            # Imported here, as its table of entities is long and most policies need none.
            from html import unescape

            read = unescape(read)
        if read == text:
            break
        text = read
    if text.isascii():
        return "".join(text.lower().split()).translate(_CONTROLS)
    shown = unicodedata.normalize("NFKC", without_invisible(text)).casefold()
    shown = without_invisible(unicodedata.normalize("NFKC", shown))
    return _WHITE_SPACE.sub("", shown).translate(_CONTROLS)


_CONTROLS = dict.fromkeys((*range(32), 127))

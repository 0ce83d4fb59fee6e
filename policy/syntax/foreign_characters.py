"""Characters that word processors and web pages substitute for those of the language."""

from __future__ import annotations

import re

_ANOTHER = "not a character of the language"
_INVISIBLE = "an invisible character"
_BLANK = "a space that does not separate words"

# What each character is, and what is meant.
FOREIGN: dict[str, tuple[str, str]] = {
    **dict.fromkeys(
        "\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2007\u2008\u2009\u200a\u202f\u3000",
        (_BLANK, " "),
    ),
    **dict.fromkeys("\u00ad\u200b\u200c\u200d\u2060\ufe0e\ufe0f", (_INVISIBLE, "")),
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212\uff0d", (_ANOTHER, "-")),
    **dict.fromkeys("→⇒⟶➜", (_ANOTHER, "->")),
    "≥": (_ANOTHER, ">="),
    "≤": (_ANOTHER, "<="),
    "≠": (_ANOTHER, "!="),
    "×": (_ANOTHER, "*"),
    "∗": (_ANOTHER, "*"),
    "：": (_ANOTHER, ":"),
    "，": (_ANOTHER, ","),
    "；": (_ANOTHER, ";"),
    "（": (_ANOTHER, "("),
    "）": (_ANOTHER, ")"),
    "［": (_ANOTHER, "["),
    "］": (_ANOTHER, "]"),
    "＝": (_ANOTHER, "="),
    "＂": (_ANOTHER, '"'),
}
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"?')
_AFTER_WORD = re.compile(r"[\w.-]*[ \t]*")


def foreign_character(text: str, at: int) -> int | None:
    """Return the offset of such a character at a token or directly behind it, None without one."""
    for place in (at, _end_of_word(text, at)):
        if text[place : place + 1] in FOREIGN and not _is_in_string(text, place):
            return place
    return None


def _end_of_word(text: str, at: int) -> int:
    found = _AFTER_WORD.match(text, at)
    return at if found is None else found.end()


def _is_in_string(text: str, place: int) -> bool:
    return any(found.start() < place < found.end() for found in _STRING.finditer(text))

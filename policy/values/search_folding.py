"""Texts as they are searched for what was copied from one into another."""

from __future__ import annotations

import re
from binascii import a2b_qp
from urllib.parse import unquote

from policy.values.text import normal_form, without_invisible

_WHITE_SPACE = re.compile(r"\s+")
# How often what is escaped may have been escaped again.
_ROUNDS = 8
# Full stops of other scripts that host names may have, and an `i` with one dot more or less.
_SAME = {**dict.fromkeys((*range(32), 127)), 0x3002: ".", 0x0131: "i", 0x0307: None}
_QUOTED = re.compile(r"=(?:[0-9A-Fa-f]{2}|[ \t]*\r?\n)")


def search_readings(text: str) -> tuple[str, ...]:
    """Return a text as it is searched, and also with quoted-printable escapes read, if it has any.

    Those are a reading of their own: `id=40` is mostly no `id@`.
    """
    folded = folded_for_search(text)
    if _QUOTED.search(text) is None:
        return (folded,)
    plain = a2b_qp(text.encode("utf-8", "replace")).decode("utf-8", "replace")
    return (folded, folded_for_search(plain))


def folded_for_search(text: str) -> str:
    """Return a text without letter case, white space, invisible characters and escapes.

    Percent and entity escapes are read, also where they are escaped themselves, up to eight times.
    Two texts that
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
        return "".join(text.lower().split()).translate(_SAME)
    shown = normal_form(without_invisible(text), "NFKC").casefold()
    shown = without_invisible(normal_form(shown, "NFKC"))
    return _WHITE_SPACE.sub("", shown).translate(_SAME)

"""The e-mail addresses in a string, however it spells or lists them, for counting.

Whoever counts by address must not be misled by `Ada <ada@x.example>`, `mailto:ada@x.example` or
`ada@x.example, bob@x.example`. Nothing here says that a string is a valid address: that two which
differ are taken for one is right here, and never that one has two forms.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from urllib.parse import unquote

from policy.values.hosts.host_name import canonical_name
from policy.values.text import normal_form, without_invisible
from policy.values.unreadable import Unreadable

# Comments, quotes and escapes change nothing about where a message goes.
_COMMENT = re.compile(r"\([^()]*\)")
_QUOTING = str.maketrans("", "", "\"'\\")
# White space around it, and the bracket before an address of numbers.
_AT = re.compile(r" ?@ ?\[? ?")
# What separates the entries of a list, in any mail program; and what ends an address.
_BETWEEN_ENTRIES = re.compile(r"[,;\n\r\0]+")
_BETWEEN_WORDS = re.compile(r"[\s<>()\[\]:?&=/]+")


def addresses_in(text: str) -> tuple[str, ...]:
    """Return the addresses in a string, in lower case; () if it has no `@`.

    It is read as a list; an entry without an address stands for itself.
    Full-width and other compatible letters, invisible characters, percent escapes, comments, quotes
    and display names make no difference.
    """
    plain = normal_form(without_invisible(text), "NFKC")
    if "%" in plain:
        plain = unquote(plain, errors="replace")
    if "@" not in plain:
        return ()
    bare = _COMMENT.sub("", plain).translate(_QUOTING).casefold()
    entries = [" ".join(entry.split()) for entry in _BETWEEN_ENTRIES.split(bare)]
    return tuple(name for entry in entries if entry for name in _names(entry)) or (bare,)


def _names(entry: str) -> tuple[str, ...]:
    words = _BETWEEN_WORDS.split(_AT.sub("@", entry))
    found = (address for word in words if "@" in word for address in _addresses(word))
    return tuple(dict.fromkeys(found)) or (entry,)


def _addresses(word: str) -> Iterator[str]:
    """Yield the addresses of a word; of `a@b@c`, of which programs read either, both."""
    for local, domain in pairwise(word.split("@")):
        name = canonical_name(domain)
        yield f"{local}@{domain.rstrip('.') if isinstance(name, Unreadable) else name}"

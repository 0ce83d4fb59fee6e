"""Parses a path argument into the path that it spells, or returns why that is ambiguous.

A text that programs interpret differently is Unreadable: backslashes, encoded characters,
variables, drives, characters that another Unicode form turns into separators or dots, and
invisible ones before the beginning.
"""

from __future__ import annotations

import re
from urllib.parse import unquote_to_bytes

from policy.values.text import (
    first_visible,
    has_control,
    is_encodable,
    normal_form,
    quote,
    takes_long,
)
from policy.values.unreadable import Unreadable

# Texts that all programs read alike; most paths are of this form.
_PLAIN = re.compile(r"[A-Za-z0-9_./+@=,#()\[\]-]+")
_ENCODED = re.compile(r"%[0-9A-Fa-f]{2}")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:/")
_DRIVE = re.compile(r"[A-Za-z]:")
# What has a meaning in a path, and how long a name in it may be.
_MEANT = frozenset("/\\.")
_LONGEST_NAME = 255
_VARIABLE = re.compile(r"\$[A-Za-z_{(]")


def path_spelled(text: str) -> str | Unreadable:
    """Return the path that plain text or a `file:` URL spells; `~` and dots are kept."""
    if _PLAIN.fullmatch(text):
        return text
    problem = _problem(text)
    if problem is not None:
        return Unreadable(reason=problem)
    return _from_url(text) if text[:5].lower() == "file:" else _from_plain(text)


def _problem(text: str) -> str | None:
    if not text:
        return "an empty path"
    if not is_encodable(text):
        return "a path that is not valid Unicode"
    if has_control(text):
        return f"a path with control characters: {quote(text)}"
    if "\\" in text:
        return f"a backslash may be a separator or not; write `/` instead: {quote(text)}"
    if text != text.strip():
        return f"a path with white space around it: {quote(text)}"
    if takes_long(text, quick=_LONGEST_NAME):
        return f"a path with more combining marks than a name may have: {quote(text)}"
    if not text.isascii() and _compatible_differs(text):
        return f"a path that changes with Unicode normalisation: {quote(text)}"
    if not text.isascii() and _hides_its_beginning(text):
        return f"a path with an invisible character before its beginning: {quote(text)}"
    return None


def _compatible_differs(text: str) -> bool:
    """Return whether full-width characters and the like would become separators or dot segments."""
    forms = {char: normal_form(char, "NFKC") for char in set(text) if not char.isascii()}
    read = {ord(char): form for char, form in forms.items() if not _MEANT.isdisjoint(form)}
    if not read:
        return False
    other = text.translate(read)
    if other.count("/") != text.count("/") or "\\" in other:
        return True
    return _dots(other) != _dots(text)


def _hides_its_beginning(text: str) -> bool:
    """Return whether a text looks absolute, and is not, as its first character is not seen."""
    seen = first_visible(text)
    return seen in ("/", "~") and seen != text[:1]


def _dots(text: str) -> int:
    return sum(part in (".", "..") for part in text.split("/"))


def _from_url(text: str) -> str | Unreadable:
    """Return the path of a `file:` URL, decoded once."""
    rest = text[5:]
    if "?" in rest or "#" in rest:
        return Unreadable(reason=f"a file URL with a query or fragment: {quote(text)}")
    if rest.startswith("//"):
        host, slash, path = rest[2:].partition("/")
        if host.lower() not in ("", "localhost"):
            return Unreadable(reason=f"a file URL of another host: {quote(text)}")
        rest = slash + path
    if not rest.startswith("/"):
        return Unreadable(reason=f"a file URL without an absolute path: {quote(text)}")
    if rest.startswith("//"):
        return Unreadable(reason=f"a file URL that may name another host: {quote(text)}")
    if _DRIVE.match(rest[1:]):
        return Unreadable(reason=f"a path on a Windows drive: {quote(text)}")
    if "%" in _ENCODED.sub("", rest):
        return Unreadable(reason=f"a stray `%` in a URL: {quote(text)}")
    try:
        decoded = unquote_to_bytes(rest).decode()
    except UnicodeDecodeError:
        return Unreadable(reason=f"a file URL that is not valid UTF-8: {quote(text)}")
    if decoded.count("/") != rest.count("/") or _problem(decoded) or _ENCODED.search(decoded):
        return Unreadable(reason=f"a file URL that may be decoded differently: {quote(text)}")
    return decoded


def _from_plain(text: str) -> str | Unreadable:
    if _SCHEME.match(text):
        return Unreadable(reason=f"a URL where a path is needed: {quote(text)}")
    if _DRIVE.match(text):
        return Unreadable(reason=f"a path on a Windows drive: {quote(text)}")
    if _ENCODED.search(text):
        return Unreadable(reason=f"encoded characters may be decoded or not: {quote(text)}")
    if _VARIABLE.match(text) or "${" in text:
        return Unreadable(reason=f"a variable may be expanded or not: {quote(text)}")
    return text

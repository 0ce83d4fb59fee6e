r"""Detects path patterns that are written in another dialect of globs.

Shells, `.gitignore` and other libraries have groups, classes, negation and variables. Here these
characters are literal, so that an item in another dialect would silently match no existing path. A
backslash makes the intention explicit: `\[`, `\{`, `\$`, `\!`, and `\ ` at an end.
"""

from __future__ import annotations

import re

from policy.values.globs import path_segments

# The characters that a backslash may precede; globs themselves know only the first two.
_ESCAPABLE = "*?[]{}()$!%|^@+"
_UNKNOWN_TO_GLOBS = frozenset(_ESCAPABLE) - frozenset("*?")
# Replaces an escaped character while the others are examined; it is in no valid path.
_ESCAPED = "\0"

_DRIVE = re.compile(r"/?[A-Za-z]:[\\/]")
_SHARE = re.compile(r"\\\\[^\\/*?]+\\")
_VARIABLE = re.compile(r"\$(?:[A-Za-z_][A-Za-z0-9_]*|\{[^{}/]*\})|%[A-Za-z_][A-Za-z0-9_]*%")
# None of these can begin again inside itself, so each character is examined once.
_CLASS = re.compile(r"\[[^\[\]/]+\]")
_BRACES = re.compile(r"\{[^{}]*\}")
_EXTENDED = re.compile(r"[?*+@!]\([^()]*\)")


def foreign_glob(text: str) -> str | None:
    """Return the reason why `text` is in another dialect, None if it is not.

    `text` has no control characters.
    """
    if text != text.strip():
        return "no readable path begins or ends with a blank; remove it"
    if _DRIVE.match(text) or _SHARE.match(text):
        return "a path of Windows; paths are written with `/`, from `/` or `~/`"
    bare = _without_escapes(text)
    if "\\" in bare or r"\**" in text:
        return "a backslash separates no folders, and no readable path has one; write `/`"
    if bare.startswith("!"):
        return r"`!` excludes nothing here; write `except` in a set, or `\!` for the character"
    return _foreign_part(bare)


def unescape_foreign(text: str) -> str:
    """Return the pattern with only those backslashes that globs themselves know."""
    if "\\" not in text:
        return text
    return "".join(_read_escapes(text, keep_plain=True))


def _foreign_part(bare: str) -> str | None:
    first, *others = path_segments(bare)
    named = _VARIABLE.fullmatch(first) or any(
        _VARIABLE.fullmatch(part) and part.upper() == part for part in others
    )
    if named:
        return r"variables are not filled in; write `~/` for the home folder, or `\$` for a dollar"
    if _EXTENDED.search(bare):
        return r"groups in parentheses are no wildcards here; write one item for each"
    if _CLASS.search(bare):
        return r"`[…]` is no wildcard here; write one item for each, `?`, or `\[` for a bracket"
    if any("," in group or ".." in group for group in _BRACES.findall(bare)):
        return r"`{…}` is no wildcard here; write one item for each, or `\{` for a brace"
    if any("**" in part and part != "**" for part in (first, *others)):
        return "`**` crosses folders only as a whole segment; write `**/*.pem`, not `**.pem`"
    return None


def _without_escapes(text: str) -> str:
    return "".join(_read_escapes(text, keep_plain=False))


def _read_escapes(text: str, *, keep_plain: bool) -> list[str]:
    r"""Process each backslash with the next character: kept for globs, or replaced by a mark."""
    found: list[str] = []
    place = 0
    while place < len(text):
        char, after = text[place], text[place + 1 : place + 2]
        if char == "\\" and after and after in _ESCAPABLE:
            plain = after if after in _UNKNOWN_TO_GLOBS else char + after
            found.append(plain if keep_plain else _ESCAPED)
            place += 2
        else:
            found.append(char)
            place += 1
    return found

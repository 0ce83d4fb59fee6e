"""Canonical form of a URL's path; None where servers interpret it differently."""

from __future__ import annotations

import re

import ada_url

# No parser changes anything here, except for dot segments and encoded characters.
_SETTLED = re.compile(r"/(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-Fa-f]{2})*", re.ASCII)
# Encoded separators, dots, controls and percent signs, overlong encodings, and parameters of a dot
# segment: some servers decode or cut these before they resolve dots.
_UNCLEAR = re.compile(
    r"%(?:2[EeFf]|5[Cc]|25|[01][0-9A-Fa-f]|7[Ff]|[Cc][01]|[Ee]0%[89]|[Ff]0%8)"
    r"|%(?![0-9A-Fa-f]{2})|\.\.;|/\.;"
)
# Before an empty segment, or one of parameters alone, servers count segments differently.
_UNCLEAR_TO_GO_UP_FROM = re.compile(r"/(?:/|;)")
_GOES_UP = re.compile(r"/\.\.(?:/|$)")
_ENCODED = re.compile(r"%([0-9A-Fa-f]{2})")
_PLAIN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_PARAMETERS = re.compile(r";[^/]*")
_SLASHES = re.compile(r"//+")


def canonical_path(text: str) -> str | None:
    """Return a URL's path with dots resolved and needless encoding removed; None if ambiguous."""
    if not text:
        return "/"
    if _UNCLEAR.search(text):
        return None
    if _GOES_UP.search(text) and _UNCLEAR_TO_GO_UP_FROM.search(text):
        return None
    if not _SETTLED.fullmatch(text):
        try:
            text = ada_url.URL("https://host" + text).pathname
        except (ValueError, UnicodeError):
            return None
    elif "/." in text:
        text = _without_dots(text)
    return _ENCODED.sub(_decode_character, text) if "%" in text else text


def _without_dots(path: str) -> str:
    kept: list[str] = []
    for segment in path[1:].split("/"):
        if segment == ".." and kept:
            kept.pop()
        elif segment not in (".", ".."):
            kept.append(segment)
    if path.endswith(("/.", "/..")):
        kept.append("")
    return "/" + "/".join(kept)


def _decode_character(found: re.Match[str]) -> str:
    char = chr(int(found[1], 16))
    return char if char in _PLAIN else found[0].upper()


def path_readings(path: str) -> tuple[str, ...]:
    """Return a canonical path, and the forms that some servers simplify it to.

    Some drop the part of a segment after a `;`, some merge several slashes.
    """
    if ";" not in path and "//" not in path:
        return (path,)
    tidy = _SLASHES.sub("/", _PARAMETERS.sub("", path))
    return (path,) if tidy == path else (path, tidy)

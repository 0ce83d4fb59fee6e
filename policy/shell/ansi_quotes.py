r"""Decodes `$'…'` (ANSI-C quoting)."""

from __future__ import annotations

import re

from policy.shell.not_readable import NotReadable

_MOST_PARTS = 20_000
_SINGLE = {
    "a": b"\a",
    "b": b"\b",
    "e": b"\x1b",
    "E": b"\x1b",
    "f": b"\f",
    "n": b"\n",
    "r": b"\r",
    "t": b"\t",
    "v": b"\v",
    "\\": b"\\",
    "'": b"'",
    '"': b'"',
    "?": b"?",
}
_PART = re.compile(
    r"""
    (?P<plain> [^'\\]+ )
  | \\ (?P<single> [abeEfnrtv\\'"?] )
  | \\ (?P<octal> [0-7]{1,3} )
  | \\ x (?P<hex> [0-9A-Fa-f]{1,2} )
  | \\ u (?P<short> [0-9A-Fa-f]{1,4} )
  | \\ U (?P<long> [0-9A-Fa-f]{1,8} )
  | \\ c (?P<control> [^'\\] )
  | (?P<unknown> \\ [^cx'] | \\ x (?! \{ ) )
    """,
    re.VERBOSE | re.DOTALL,
)


def read_ansi_quotes(text: str, position: int) -> tuple[str, int]:
    """Return the decoded text from `position` to the closing quote, and the position after it."""
    value = bytearray()
    ended = False
    parts = 0
    while not text.startswith("'", position):
        parts += 1
        if parts > _MOST_PARTS:
            raise NotReadable("a `$'` with too many escapes")
        part = _PART.match(text, position)
        if part is None:
            raise NotReadable("a `$'` that is not closed or has an escape that is not known")
        position = part.end()
        piece = _meaning(part)
        # A NUL ends the string that the program gets, not the quotes.
        ended = ended or piece[:1] == b"\0"
        if not ended:
            value += piece
    try:
        return value.decode(), position + 1
    except UnicodeDecodeError:
        raise NotReadable("a `$'` whose bytes are not valid text") from None


def _meaning(part: re.Match[str]) -> bytes:
    kind = part.lastgroup
    assert kind is not None
    found = part[kind]
    match kind:
        case "plain" | "unknown":
            return found.encode()
        case "single":
            return _SINGLE[found]
        case "octal":
            return bytes([int(found, 8) & 0xFF])
        case "hex":
            return bytes([int(found, 16)])
        case "control":
            return _control(found)
        case _:
            return _character(int(found, 16))


def _control(char: str) -> bytes:
    if not char.isascii():
        raise NotReadable("an invalid control character")
    return b"\x7f" if char == "?" else bytes([ord(char.upper()) & 0x1F])


def _character(number: int) -> bytes:
    try:
        return chr(number).encode()
    except (ValueError, OverflowError):
        raise NotReadable("a character that does not exist") from None

"""Convert literals to values and back: strings, regular expressions, numbers and durations."""

from __future__ import annotations

import re
from decimal import Decimal

MAX_DIGITS = 40
MAX_SPAN_SECONDS = 100 * 366 * 86_400

SECONDS: dict[str, Decimal] = {
    "ms": Decimal("0.001"),
    "s": Decimal(1),
    "m": Decimal(60),
    "h": Decimal(3_600),
    "d": Decimal(86_400),
    "w": Decimal(604_800),
}

_ESCAPE = re.compile(r"\\(?:u\{([0-9A-Fa-f]{1,6})\}|(.))", re.DOTALL)
_SIMPLE = {'"': '"', "\\": "\\", "n": "\n", "t": "\t"}
_WRITTEN = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t"}
# Escaped when printed: invisible characters, and those that reorder text on display.
_HIDDEN = re.compile(
    r'["\\\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]'
)
_PAIR = re.compile(r"\\.|/")


def read_text(literal: str) -> tuple[str, int | None]:
    """Return the string of a quoted literal, and the offset in it of an unknown escape, if any."""
    wrong: list[int] = []

    def replace(found: re.Match[str]) -> str:
        digits, letter = found.groups()
        if digits is not None:
            code = int(digits, 16)
            if code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF:
                return chr(code)
        elif letter in _SIMPLE:
            return _SIMPLE[letter]
        wrong.append(found.start() + 1)
        return found.group()

    inside = literal[1:-1]
    value = _ESCAPE.sub(replace, inside) if "\\" in inside else inside
    return value, wrong[0] if wrong else None


def write_text(value: str) -> str:
    """Return the quoted literal of a string, with invisible characters escaped."""
    return '"' + _HIDDEN.sub(_escaped, value) + '"'


def read_regex(literal: str) -> str:
    r"""Return the pattern between the slashes, `\/` read as `/`."""
    inside = literal[1:-1]
    if "\\/" not in inside:
        return inside
    return _PAIR.sub(lambda found: "/" if found.group() == "\\/" else found.group(), inside)


def write_regex(pattern: str) -> str:
    """Return the literal of a pattern, every slash escaped."""
    inside = _PAIR.sub(lambda found: "\\/" if found.group() == "/" else found.group(), pattern)
    return f"/{inside}/"


def read_number(literal: str) -> int | Decimal:
    """Return the exact value of a number; the caller has counted its digits."""
    plain = literal.replace("_", "")
    return Decimal(plain) if "." in plain else int(plain)


def write_number(value: int | Decimal) -> str:
    """Return a number's digits, without exponent."""
    return format(value, "f") if isinstance(value, Decimal) else str(value)


def count_digits(literal: str) -> int:
    """Count the digits of a literal."""
    return sum(char.isdigit() for char in literal)


def _escaped(found: re.Match[str]) -> str:
    char = found.group()
    return _WRITTEN.get(char) or f"\\u{{{ord(char):x}}}"

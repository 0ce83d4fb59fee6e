"""The reference parser of JSON: simple and slow; returns a value, or REFUSED.

One character after the other, by the grammar of RFC 8259, and no more lenient than that anywhere.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from policy.values import JsonLimits

REFUSED: Any = object()

_ESCAPES = {
    '"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t",
}  # fmt: skip
_WORDS = {"true": True, "false": False, "null": None}
_DIGITS = "0123456789"
_HEX = _DIGITS + "abcdefABCDEF"


class _Wrong(Exception):
    pass


def read_slowly(text: str | bytes, limits: JsonLimits) -> Any:
    """Return the value, in dicts, lists, texts and numbers, or REFUSED."""
    try:
        if isinstance(text, bytes):
            if len(text) > limits.bytes:
                return REFUSED
            text = text.decode("utf-8")
        elif len(text.encode("utf-8")) > limits.bytes:
            return REFUSED
        return _Reader(text, limits).document()
    except (_Wrong, UnicodeError):
        return REFUSED


class _Reader:
    def __init__(self, text: str, limits: JsonLimits) -> None:
        self.text = text
        self.limits = limits
        self.at = 0

    def document(self) -> Any:
        value = self.value(0)
        self.blanks()
        if self.at != len(self.text):
            raise _Wrong
        return value

    def here(self) -> str:
        return self.text[self.at : self.at + 1]

    def take(self, wanted: str) -> None:
        if not wanted or self.here() not in tuple(wanted):
            raise _Wrong
        self.at += 1

    def blanks(self) -> None:
        while self.here() in (" ", "\t", "\n", "\r"):
            self.at += 1

    def value(self, depth: int) -> Any:
        self.blanks()
        char = self.here()
        if char in ("{", "["):
            if depth >= self.limits.depth:
                raise _Wrong
            return self.object(depth) if char == "{" else self.list(depth)
        if char == '"':
            return self.string()
        for word, meant in _WORDS.items():
            if self.text.startswith(word, self.at):
                self.at += len(word)
                return meant
        return self.number()

    def object(self, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        self.take("{")
        self.blanks()
        if self.here() == "}":
            self.at += 1
            return found
        while True:
            self.blanks()
            key = self.string()
            self.blanks()
            self.take(":")
            value = self.value(depth + 1)
            if key in found:
                raise _Wrong
            found[key] = value
            self.blanks()
            if self.here() == "}":
                self.at += 1
                return found
            self.take(",")

    def list(self, depth: int) -> list[Any]:
        found: list[Any] = []
        self.take("[")
        self.blanks()
        if self.here() == "]":
            self.at += 1
            return found
        while True:
            found.append(self.value(depth + 1))
            self.blanks()
            if self.here() == "]":
                self.at += 1
                return found
            self.take(",")

    def string(self) -> str:
        units: list[str] = []
        self.take('"')
        while (char := self.here()) != '"':
            if not char or ord(char) < 0x20:
                raise _Wrong
            self.at += 1
            units.append(self.escape() if char == "\\" else char)
        self.at += 1
        # Halves of a pair become one character only where both were escaped side by side.
        joined = "".join(units).encode("utf-16-be", "surrogatepass")
        return joined.decode("utf-16-be")

    def escape(self) -> str:
        char = self.here()
        self.at += 1
        if char in _ESCAPES:
            return _ESCAPES[char]
        if char != "u":
            raise _Wrong
        digits = self.text[self.at : self.at + 4]
        if len(digits) != 4 or any(digit not in _HEX for digit in digits):
            raise _Wrong
        self.at += 4
        return chr(int(digits, 16))

    def number(self) -> int | float | Decimal:
        begin = self.at
        if self.here() == "-":
            self.at += 1
        if self.here() == "0":
            self.at += 1
        else:
            self.digits()
        whole = True
        if self.here() == ".":
            whole = False
            self.at += 1
            self.digits()
        if self.here() in ("e", "E"):
            whole = False
            self.at += 1
            if self.here() in ("+", "-"):
                self.at += 1
            self.digits()
        spelled = self.text[begin : self.at]
        if len(spelled) > self.limits.digits:
            raise _Wrong
        return int(spelled) if whole else _fraction(spelled)

    def digits(self) -> None:
        self.take(_DIGITS)
        while self.here() and self.here() in _DIGITS:
            self.at += 1


def _fraction(spelled: str) -> float | Decimal:
    """Return a double where it is the number that was spelled, else that number."""
    double = float(spelled)
    if double in (float("inf"), float("-inf")):
        raise _Wrong
    try:
        exact = Decimal(spelled)
    except ArithmeticError:
        raise _Wrong from None
    return double if Decimal(repr(double)) == exact else exact

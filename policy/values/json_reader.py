"""Strict JSON parser: returns a frozen value, or the reason why the input is not valid."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, DecimalException
from functools import lru_cache
from math import isfinite
from typing import Any, NoReturn

from policy.model import Frozen, freeze
from policy.values.text import is_encodable, quote
from policy.values.unreadable import Unreadable


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonLimits:
    """Limits on JSON input: levels of nesting, digits of one number, bytes in total."""

    depth: int = 64
    digits: int = 400
    bytes: int = 16 * 1024 * 1024


class _Refused(Exception):
    """Carries a reason out of the decoder's hooks."""


_DEFAULT = JsonLimits()


def read_json(text: str | bytes, *, limits: JsonLimits = _DEFAULT) -> Frozen | Unreadable:
    """Parse one JSON value; input that two parsers might interpret differently is Unreadable.

    Never raises. A number whose digits do not survive a double becomes a Decimal.
    """
    read = read_plain_json(text, limits=limits)
    if isinstance(read, Unreadable):
        return read
    try:
        return freeze(read)
    except RecursionError:
        return Unreadable(reason="nested too deeply")


def read_plain_json(text: str | bytes, *, limits: JsonLimits = _DEFAULT) -> Any:
    """Parse one JSON value as `read_json` does, into dicts and lists that the caller may change."""
    try:
        return _read(text, limits)
    except _Refused as refused:
        return Unreadable(reason=str(refused))
    except json.JSONDecodeError as error:
        what = error.msg.lower().removesuffix(" at")
        return Unreadable(reason=f"not JSON: {what} at character {error.pos}")
    except RecursionError:
        return Unreadable(reason="nested too deeply")


def check_value(value: object, *, limits: JsonLimits = _DEFAULT) -> Unreadable | None:
    """Return why a Python value could not have come from `read_json`; None if it could."""
    copied = copy_value(value, limits=limits)
    return copied if isinstance(copied, Unreadable) else None


def copy_value(value: object, *, limits: JsonLimits = _DEFAULT) -> Any:
    """Return a copy of a Python value in new dicts and lists, or Unreadable.

    A value that `read_json` could not have returned is Unreadable. Each part is read once, so that
    the checked value is the copied one.
    """
    try:
        return _Copying(limits).copy(value, 0)
    except _Refused as refused:
        return Unreadable(reason=str(refused))


# Integers of 63 bits have fewer digits than any sensible limit.
_LEAST = -(2**63)
_PLAIN_DIGITS = 19


def _read(text: str | bytes, limits: JsonLimits) -> Any:
    # A character takes at least a byte, so longer text can be refused without encoding it.
    if len(text) > limits.bytes:
        _refuse("more bytes than the limit")
    decoded = text if isinstance(text, str) else _decode(text)
    if decoded.startswith("\ufeff"):
        _refuse("begins with a byte order mark")
    if isinstance(text, str) and not text.isascii():
        if not is_encodable(text):
            _refuse("not valid Unicode")
        if len(text.encode()) > limits.bytes:
            _refuse("more bytes than the limit")
    value = _decoder(limits).decode(decoded)
    # Only an escape can produce a lone surrogate in text that was valid Unicode.
    escaped = "\\ud" in decoded or "\\uD" in decoded
    _check(value, depth=0, limit=limits.depth, escaped=escaped)
    return value


@lru_cache(maxsize=16)
def _decoder(limits: JsonLimits) -> json.JSONDecoder:
    """Return a decoder that refuses ambiguous input; cached, since making one is slow."""
    return json.JSONDecoder(
        object_pairs_hook=_object,
        parse_int=lambda digits: int(_counted(digits, limits)),
        parse_float=lambda digits: _number(_counted(digits, limits)),
        parse_constant=lambda name: _refuse(f"{name} is not a JSON number"),
    )


def _refuse(reason: str) -> NoReturn:
    raise _Refused(reason)


def _decode(text: bytes) -> str:
    try:
        return text.decode("utf-8", "strict")
    except UnicodeDecodeError as error:
        _refuse(f"not valid UTF-8 at byte {error.start}")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                _refuse(f"the key {quote(key)} occurs twice in one object")
            seen.add(key)
    return result


def _counted(digits: str, limits: JsonLimits) -> str:
    if len(digits) > limits.digits:
        _refuse("a number with more digits than the limit")
    return digits


# Every double keeps this many digits, and a point.
_SURE_DIGITS = 16


def _number(digits: str) -> float | Decimal:
    value = float(digits)
    if len(digits) <= _SURE_DIGITS and "e" not in digits and "E" not in digits:
        return value
    if not isfinite(value):
        _refuse("a number too large for a double")
    try:
        spelled = Decimal(digits)
    except DecimalException:
        _refuse("a number with an exponent that is too large")
    return value if Decimal(repr(value)) == spelled else spelled


def _check(value: Any, *, depth: int, limit: int, escaped: bool) -> None:
    """Refuse what the decoder accepted."""
    kind = type(value)
    if kind is str:
        if escaped and not is_encodable(value):
            _refuse("an escape is half a surrogate pair")
        return
    if kind is not dict and kind is not list:
        return
    if depth >= limit:
        _refuse("nested too deeply")
    if kind is dict:
        if escaped and not all(is_encodable(key) for key in value):
            _refuse("an escape is half a surrogate pair")
        value = value.values()
    for item in value:
        kind = type(item)
        if kind is dict or kind is list or escaped:
            _check(item, depth=depth + 1, limit=limit, escaped=escaped)


class _Copying:
    """One walk over a value; counts its size as JSON, so that it ends on cycles too."""

    def __init__(self, limits: JsonLimits) -> None:
        self.limits = limits
        self.room = limits.bytes

    def copy(self, value: Any, depth: int) -> Any:
        """Copy the value, which is at `depth`; refuse it if any part of it is refused."""
        # Exact types first: `isinstance` with an abstract class costs more than the rest.
        kind = type(value)
        if kind is str:
            self._take(1 + _size(value))
            return value
        self._take(1)
        if kind is dict:
            return self._copy_object(value, depth)
        if kind is list:
            self._check_depth(depth)
            return [self.copy(item, depth + 1) for item in value]
        if kind is int and self._is_short(value):
            return value
        match value:
            case None | bool():
                return value
            case str():
                return self._text(value)
            case int() | float() | Decimal():
                number = _plain_number(value)
                self._check_number(number)
                return number
            case list() | tuple():
                self._check_depth(depth)
                return [self.copy(item, depth + 1) for item in value]
            case Mapping():
                return self._copy_object(value, depth)
            case _:
                _refuse("a value of a type that JSON does not have")

    def _copy_object(self, value: Mapping[Any, object], depth: int) -> dict[str, Any]:
        self._check_depth(depth)
        result: dict[str, Any] = {}
        for key, item in value.items():
            if not isinstance(key, str):
                _refuse("an object with a key that is not a string")
            result[self._text(key)] = self.copy(item, depth + 1)
        return result

    def _text(self, given: str) -> str:
        """Return the characters themselves, in case a subclass of str overrides something."""
        text = str.__str__(given)
        self._take(_size(text))
        return text

    def _is_short(self, value: int) -> bool:
        return self.limits.digits > _PLAIN_DIGITS and _LEAST <= value < -_LEAST

    def _check_number(self, value: float | Decimal) -> None:
        finite = value.is_finite() if isinstance(value, Decimal) else True
        if not finite or (isinstance(value, float) and not isfinite(value)):
            _refuse("a number that is not finite")
        if isinstance(value, int):
            # A digit holds more than 3.32 bits: a bound without writing the number out.
            too_long = value.bit_length() > self.limits.digits * 3.33
        elif isinstance(value, Decimal):
            too_long = len(value.as_tuple().digits) > self.limits.digits
        else:
            too_long = False
        if too_long:
            _refuse("a number with more digits than the limit")

    def _check_depth(self, depth: int) -> None:
        if depth >= self.limits.depth:
            _refuse("nested too deeply")

    def _take(self, count: int) -> None:
        self.room -= count
        if self.room < 0:
            _refuse("more bytes than the limit")


def _size(text: str) -> int:
    """Return the size of a string in bytes."""
    if text.isascii():
        return len(text)
    if not is_encodable(text):
        _refuse("not valid Unicode")
    return len(text.encode())


def _plain_number(given: float | Decimal) -> float | Decimal:
    """Return the number itself, in case a subclass overrides something."""
    if isinstance(given, Decimal):
        return given if type(given) is Decimal else Decimal(given)
    return int.__int__(given) if isinstance(given, int) else float.__float__(given)

"""A record of this package in, its JSON out, and back: exactly the same record, or an error.

Every field of a record is written and every field must be there: what was written by another
version, or is not what it should be, is no record. Nothing is guessed, so that a damaged approval
is none. A value that JSON cannot hold is an object of one key that begins with a single `$`; a key
of a value that begins with one gets another.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from functools import cache
from types import MappingProxyType, NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

_Record = TypeVar("_Record")

# Readers of JSON agree on whole numbers of this size; a longer one would be slow to write, too.
_LONGEST_INTEGER = 53


class NotEncodable(ValueError):
    """A value that is no part of a call: it cannot be kept."""


class NotDecodable(ValueError):
    """A text that is no record: damaged, or written by another version."""


def encode(record: Any) -> str:
    """Return a record as ASCII JSON; raise NotEncodable for what could not be read back."""
    try:
        return json.dumps(_told(record), allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise NotEncodable(f"this cannot be kept: {_why(error)}") from error


def decode(kind: type[_Record], text: str) -> _Record:
    """Return the record that was written; raise NotDecodable for anything else."""
    try:
        found = _read(kind, json.loads(text, parse_constant=_no_constant))
    except (TypeError, ValueError, ArithmeticError, RecursionError) as error:
        raise NotDecodable(f"this is no {kind.__name__}: {_why(error)}") from error
    if not isinstance(found, kind):
        raise NotDecodable(f"this is no {kind.__name__}")
    return found


# ---- out


def _told(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: _told(getattr(value, one.name)) for one in fields(value) if one.init}
    if isinstance(value, datetime):
        return {"$time": value.isoformat()}
    if isinstance(value, StrEnum):
        return value.value
    if isinstance(value, Mapping):
        return {_escaped(key): _told(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_told(item) for item in value]
    return _told_scalar(value)


def _told_scalar(value: Any) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return value if _is_text(value) else {"$text": _units(value)}
    if isinstance(value, int):
        return value if value.bit_length() <= _LONGEST_INTEGER else {"$int": hex(value)}
    if isinstance(value, float):
        return value if math.isfinite(value) else {"$float": repr(value)}
    if isinstance(value, Decimal):
        return {"$decimal": str(value)}
    raise TypeError(f"a value of type {type(value).__name__}")


def _escaped(key: Any) -> str:
    if not isinstance(key, str) or not _is_text(key):
        raise TypeError("a key that is no text")
    return f"${key}" if key.startswith("$") else key


def _is_text(text: str) -> bool:
    # Two halves of a character written apart would be read back as one.
    return text.isascii() or not any("\ud800" <= char <= "\udfff" for char in text)


def _units(text: str) -> str:
    return text.encode("utf-32-le", "surrogatepass").hex()


# ---- in


def _read(hint: Any, value: Any) -> Any:
    """Return a value of the type a field declares."""
    if hint is Any or hint == Mapping[str, Any]:
        found = _frozen(value)
        if hint is not Any and not isinstance(found, Mapping):
            raise TypeError("no object where one should be")
        return found
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        return _read_one_of(get_args(hint), value)
    if origin is tuple:
        return tuple(_read(get_args(hint)[0], item) for item in _expect(list, value))
    if origin is Literal:
        return _read_choice(get_args(hint), value)
    if is_dataclass(hint):
        return _read_record(hint, value)
    return _read_scalar(hint, value)


def _read_one_of(hints: tuple[Any, ...], value: Any) -> Any:
    if value is None and NoneType in hints:
        return None
    problem: Exception = TypeError("nothing that fits")
    for hint in hints:
        if hint is NoneType:
            continue
        try:
            return _read(hint, value)
        except (TypeError, ValueError) as error:
            problem = error
    raise problem


def _read_choice(choices: tuple[Any, ...], value: Any) -> Any:
    if not isinstance(value, str) or value not in choices:
        raise ValueError("none of the words that it could be")
    return value


def _read_record(kind: Any, value: Any) -> Any:
    given = _expect(dict, value)
    hints = _hints(kind)
    if given.keys() != hints.keys():
        raise ValueError(f"not the fields of a {kind.__name__}")
    return kind(**{name: _read(hint, given[name]) for name, hint in hints.items()})


@cache
def _hints(kind: type[Any]) -> Mapping[str, Any]:
    hints = get_type_hints(kind)
    return {one.name: hints[one.name] for one in fields(kind) if one.init}


def _read_scalar(hint: Any, value: Any) -> Any:
    found = _frozen(value)
    if hint is float and type(found) is int:
        return found
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return hint(_expect(str, found))
    return _expect(hint, found)


def _expect(kind: type[Any], value: Any) -> Any:
    # Exactly this type: True is no number here.
    if type(value) is not kind:
        raise TypeError(f"a value of type {type(value).__name__} instead of {kind.__name__}")
    return value


def _frozen(value: Any) -> Any:
    """Return a written value as it was, objects and arrays read-only."""
    if isinstance(value, list):
        return tuple(_frozen(item) for item in value)
    if not isinstance(value, dict):
        return value
    if len(value) == 1:
        [(key, item)] = value.items()
        if key.startswith("$") and not key.startswith("$$"):
            return _marked(key, _expect(str, item))
    return MappingProxyType({_plain(key): _frozen(item) for key, item in value.items()})


def _marked(mark: str, text: str) -> Any:
    match mark:
        case "$time":
            return datetime.fromisoformat(text)
        case "$text":
            return bytes.fromhex(text).decode("utf-32-le", "surrogatepass")
        case "$int":
            return int(text, 16)
        case "$float":
            return float(text)
        case "$decimal":
            return Decimal(text)
        case _:
            raise ValueError("an unknown mark")


def _plain(key: str) -> str:
    if key.startswith("$") and not key.startswith("$$"):
        raise ValueError("an unknown mark")
    return key.removeprefix("$")


def _no_constant(text: str) -> Any:
    raise ValueError("no number")


def _why(error: Exception) -> str:
    return "it is too deep" if isinstance(error, RecursionError) else str(error)

"""Stores a record as a JSON document, and reads back exactly the same record, or fails.

A document of another version, or a damaged one, is refused; missing fields are not filled in. A
value that JSON cannot represent exactly is written as an object with one key, which begins with a
single `$`; a key of an input that begins with `$` is written with one more.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from decimal import Decimal
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from policy.approvals.store import StoreUnusable

if TYPE_CHECKING:
    from pydantic import TypeAdapter

_Record = TypeVar("_Record")

# JSON parsers agree on whole numbers of this size; a longer one would also be slow to write.
_LONGEST_INTEGER = 53


class NotEncodable(StoreUnusable):
    """A value that cannot be written as a document: it cannot be kept."""


class NotDecodable(StoreUnusable):
    """A document that is damaged, or was written by another version."""


def encode(record: Any) -> str:
    """Return a record as ASCII JSON; raise NotEncodable if it could not be read back."""
    try:
        return json.dumps(_as_json(record), allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise NotEncodable(f"this cannot be kept: {_why(error)}") from error


def decode(record_type: type[_Record], text: str) -> _Record:
    """Return the record that was written; raise NotDecodable for any other text."""
    try:
        written = json.loads(text)
        found: _Record = _adapter(record_type).validate_python(  # type: ignore[arg-type]
            _from_json(written)
        )
        # They differ if a field is missing, unknown or had to be converted.
        if _ordered(_as_json(found)) != _ordered(written):
            raise ValueError("it would be written differently")
    except (TypeError, ValueError, ArithmeticError, RecursionError) as error:
        raise NotDecodable(f"this is not a valid {record_type.__name__}: {_why(error)}") from error
    return found


def digest(text: str) -> str:
    """Return the digest of a text, used for look-ups and as the seal of a document."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def sealed(record: Any) -> tuple[str, str]:
    """Return the document of a record, and its seal."""
    document = encode(record)
    return document, digest(document)


def unsealed(record_type: type[_Record], document: Any, seal: Any) -> _Record:
    """Return the record of a document; raise NotDecodable if it was changed since."""
    if not isinstance(document, str) or digest(document) != seal:
        raise NotDecodable(f"this {record_type.__name__} is damaged")
    return decode(record_type, document)


@cache
def _adapter(record_type: Any) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter

    return TypeAdapter(record_type)


def _ordered(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _as_json(value: Any) -> Any:
    match value:
        case None | bool():
            return value
        case str():
            # Two surrogates that are written apart would be read back as one character.
            return str(value) if _is_text(value) else {"$text": _utf_32(value).hex()}
        case int():
            return value if value.bit_length() <= _LONGEST_INTEGER else {"$int": hex(value)}
        case float():
            return value if math.isfinite(value) else {"$float": repr(value)}
        case Decimal():
            return {"$decimal": str(value)}
        case datetime():
            return {"$time": value.isoformat()}
        case list() | tuple():
            return [_as_json(item) for item in value]
        case Mapping():
            return {_key(key): _as_json(item) for key, item in value.items()}
        case _ if is_dataclass(value):
            return {name: _as_json(kept) for name, kept in _kept_fields(value)}
        case _:
            raise TypeError(f"a value of type {type(value).__name__}")


def _kept_fields(record: Any) -> Iterator[tuple[str, Any]]:
    """Yield the fields to write; one that came later, `stored` if set, only where it is set."""
    for field in fields(record):
        value = getattr(record, field.name) if field.init else None
        came_later = field.metadata.get("stored") == "if set"
        if field.init and not (came_later and value == field.default):
            yield field.name, value


def _key(key: Any) -> str:
    if not isinstance(key, str) or not _is_text(key):
        raise TypeError("a key that is not a valid string")
    return f"${key}" if key.startswith("$") else key


_MARKS: Mapping[str, Callable[[str], Any]] = {
    "$text": lambda text: bytes.fromhex(text).decode("utf-32-le", "surrogatepass"),
    "$int": lambda text: int(text, 16),
    "$float": float,
    "$decimal": Decimal,
    "$time": datetime.fromisoformat,
}


def _from_json(value: Any) -> Any:
    match value:
        case list():
            return [_from_json(item) for item in value]
        case dict():
            for mark, read in _MARKS.items():
                if value.keys() == {mark}:
                    return read(value[mark])
            return {key.removeprefix("$"): _from_json(item) for key, item in value.items()}
        case _:
            return value


def _is_text(text: str) -> bool:
    return text.isascii() or not any("\ud800" <= char <= "\udfff" for char in text)


def _utf_32(text: str) -> bytes:
    return text.encode("utf-32-le", "surrogatepass")


def _why(error: Exception) -> str:
    return "it is nested too deeply" if isinstance(error, RecursionError) else str(error)

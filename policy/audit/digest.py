"""Digests of JSON values: equal values have the same digest, however they are written.

Keys are sorted and numbers written by value (`1`, `1.0` and `1e0` are the same number), so that a
call cannot change its digest by being written another way. What an approval lets run is compared
by `exact_digest_of`, which is stricter: a tool can see whether it was passed `1` or `1.0`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from decimal import Decimal
from json.encoder import encode_basestring_ascii as quoted
from math import isfinite
from types import MappingProxyType
from typing import Any


def digest_of(value: Any) -> str | None:
    """Return `sha256:…` of a JSON value, frozen or not; None for a value that is not JSON."""
    try:
        text = _text(value)
    except (TypeError, ValueError, RecursionError):
        return None
    return f"sha256:{hashlib.sha256(text.encode('ascii')).hexdigest()}"


def exact_digest_of(value: Any) -> str | None:
    """Return a digest that two values share only if a tool cannot distinguish them.

    Integers and floats differ in it, and so do `0.0` and `-0.0`.
    """
    try:
        return digest_of(_marked(value))
    except RecursionError:
        return None


def _marked(value: Any) -> Any:
    """Return a value in which every float and every string is marked with its type."""
    if isinstance(value, float):
        return f"f{value!r}"
    if isinstance(value, str):
        return f"s{value}"
    if isinstance(value, Mapping):
        return {key: _marked(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_marked(item) for item in value]
    return value


def _text(value: Any) -> str:
    """Return the canonical JSON text of a value; raise TypeError or ValueError.

    Strings are tagged `s`, so that none equals the number or the bytes that it represents.
    """
    kind = type(value)
    if kind is str:
        return quoted(f"s{value}")
    if kind is int:
        return repr(value)
    if value is None:
        return "null"
    if kind is bool:
        return "true" if value else "false"
    # Tested first: `isinstance` with an abstract class costs more than all the rest.
    if kind is dict or kind is MappingProxyType or isinstance(value, Mapping):
        items = sorted(value.items())
        return "{" + ",".join([f"{_key(key)}:{_text(item)}" for key, item in items]) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join([_text(item) for item in value]) + "]"
    return _number(value) if isinstance(value, (int, float, Decimal)) else _other(value)


def _number(value: float | Decimal) -> str:
    if isinstance(value, Decimal):
        return quoted(f"d{_exact(value)}")
    if not isfinite(value):
        raise ValueError
    return repr(int(value) if value == int(value) else float(value))


def _exact(value: Decimal) -> str:
    """Return a number's digits and exponent; `normalize` would round to the context's precision."""
    sign, digits, exponent = value.as_tuple()
    if not isinstance(exponent, int):
        raise ValueError
    written = "".join(map(str, digits))
    kept = written.rstrip("0")
    if not kept:
        return "0"
    return f"{'-' if sign else ''}{kept}e{exponent + len(written) - len(kept)}"


def _other(value: Any) -> str:
    if isinstance(value, bytes):
        return quoted(f"b{value.hex()}")
    if isinstance(value, str):
        return quoted(f"s{value}")
    raise TypeError


def _key(key: Any) -> str:
    if not isinstance(key, str):
        raise TypeError
    return quoted(key)

"""A JSON value in, the digest that names it out: equal values, whatever their spelling, have one.

Keys are sorted and numbers written by value (`1`, `1.0` and `1e0` are the same number), so that a
call cannot shed its digest by being spelled another way.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any


def digest_of(value: Any) -> str | None:
    """Return `sha256:…` of a JSON value, frozen or not; None for what is no JSON value."""
    try:
        text = json.dumps(_canonical(value), sort_keys=True, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError):
        return None
    return f"sha256:{hashlib.sha256(text.encode('ascii')).hexdigest()}"


def _canonical(value: Any) -> Any:
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, str):
        return f"s{value}"
    if isinstance(value, float):
        return int(value) if value.is_integer() else value
    if isinstance(value, Decimal):
        # Tagged unlike any text, which begins with `s`: no text passes for such a number.
        return f"d{value.normalize()}"
    if isinstance(value, bytes):
        return f"b{value.hex()}"
    if isinstance(value, Mapping):
        return {_key(key): _canonical(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_canonical(item) for item in value]
    raise TypeError


def _key(key: Any) -> str:
    if not isinstance(key, str):
        raise TypeError
    return key

"""The types of values in `placet.toml`, for every table of it."""

from __future__ import annotations

import posixpath
import re
from datetime import timedelta
from typing import Annotated, Any

from pydantic import BeforeValidator, ConfigDict, Field

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_SPAN = re.compile(r"([0-9]{1,9})(ms|s|m|h)")
_LONG_UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}
_LONG_SPAN = re.compile(r"([0-9]{1,4})(h|d|w)")


def _seconds(value: Any) -> Any:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    found = _SPAN.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        digits = value if isinstance(value, str) and value.isdecimal() else "30"
        raise ValueError(f'a duration is written like `"{digits[:9]}s"`, with ms, s, m or h')
    return int(found[1]) * _UNITS[found[2]]


def _long_span(value: Any) -> Any:
    found = _LONG_SPAN.fullmatch(value) if isinstance(value, str) else None
    if found is None or not int(found[1]):
        raise ValueError('a long duration is written like `"30d"`, with h, d or w')
    return int(found[1]) * _LONG_UNITS[found[2]]


def _plain(name: str) -> str:
    if not name or name.startswith("/") or posixpath.normpath(name) != name or name[:2] == "..":
        raise ValueError("a file is named by its path below the policy folder")
    return name


def _name(value: Any) -> Any:
    # Who may answer is compared exactly, so a name with invisible characters is refused.
    if isinstance(value, str) and (not value.isprintable() or not value or value != value.strip()):
        raise ValueError("is a name of visible letters, without spaces around it")
    return value


Somebody = Annotated[str, BeforeValidator(_name)]
Seconds = Annotated[
    float, BeforeValidator(_seconds), Field(gt=0, le=86_400, allow_inf_nan=False, strict=True)
]
LongSpan = Annotated[timedelta, BeforeValidator(_long_span)]
FolderFile = Annotated[str, BeforeValidator(_plain)]


# A table of the file: it has no other keys than these.
STRICT = ConfigDict(extra="forbid", strict=True, frozen=True)

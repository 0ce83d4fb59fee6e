"""The types of values in `placet.toml`, for every table of it."""

from __future__ import annotations

import posixpath
import re
from typing import Annotated, Any

from pydantic import BeforeValidator, ConfigDict, Field

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_SPAN = re.compile(r"([0-9]{1,9})(ms|s|m|h)")


def _seconds(value: Any) -> Any:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    found = _SPAN.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        raise ValueError('a span of time is written like `"30s"`, with ms, s, m or h')
    return int(found[1]) * _UNITS[found[2]]


def _plain(name: str) -> str:
    if not name or name.startswith("/") or posixpath.normpath(name) != name or name[:2] == "..":
        raise ValueError("a file is named by its path below the policy folder")
    return name


Seconds = Annotated[
    float, BeforeValidator(_seconds), Field(gt=0, le=86_400, allow_inf_nan=False, strict=True)
]
FolderFile = Annotated[str, BeforeValidator(_plain)]


# A table of the file: it has no other keys than these.
STRICT = ConfigDict(extra="forbid", strict=True, frozen=True)

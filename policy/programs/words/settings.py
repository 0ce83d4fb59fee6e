"""Whether a setting given on the command line, `user.name=me`, is harmless."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase

_NAME = re.compile(r"[^=\s]+")


def is_harmless_setting(text: str, harmless: Iterable[str]) -> bool:
    """Return whether one of the globs of harmless names matches the name of a setting.

    Of several lines, each may be a setting.
    """
    if "\n" in text.strip() and "=" in text:
        return False
    name = _NAME.match(text.strip())
    if name is None:
        return False
    return any(fnmatchcase(name[0].lower(), glob) for glob in harmless)

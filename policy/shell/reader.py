"""Parses shell scripts into simple commands, with a cache."""

from __future__ import annotations

from functools import lru_cache

from policy.shell.script import Script
from policy.values import Unreadable

# Short scripts are cached: one decision parses the same ones several times.
_SHORT = 2_048


def read_script(text: str, *, whole: bool = False) -> Script | Unreadable:
    """Parse a shell script as bash does; an ambiguity is a gap or makes it Unreadable.

    With `whole`, simple scripts are parsed by the full parser as well, with the same result.
    """
    return _remembered(text, whole) if len(text) <= _SHORT else _read(text, whole)


def read_script_uncached(text: str, *, whole: bool = False) -> Script | Unreadable:
    """Parse a script without the cache of results."""
    # Imported here: the parser is large, and many calls run no script.
    from policy.shell import full_reader

    return full_reader.read_script_uncached(text, whole=whole)


def _read(text: str, whole: bool) -> Script | Unreadable:  # noqa: FBT001 — a key
    return read_script_uncached(text, whole=whole)


_remembered = lru_cache(maxsize=1024)(_read)

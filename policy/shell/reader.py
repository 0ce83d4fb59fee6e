"""Reads scripts: `read_script` returns the simple commands, or why there are none."""

from __future__ import annotations

from functools import lru_cache

from policy.shell.script import Script
from policy.values import Unreadable

# What is read again in one decision is remembered, if it is not large.
_SHORT = 2_048


def read_script(text: str, *, whole: bool = False) -> Script | Unreadable:
    """Read a shell script as bash does; what might be read otherwise is a gap or Unreadable.

    With `whole`, plain scripts are read by the whole reader as well, which gives the same.
    """
    return _remembered(text, whole) if len(text) <= _SHORT else _read(text, whole)


def read_script_uncached(text: str, *, whole: bool = False) -> Script | Unreadable:
    """Read a script whose caller remembers what comes of it."""
    # Imported here: the reader is large, and many calls run no script.
    from policy.shell import full_reader

    return full_reader.read_script_uncached(text, whole=whole)


def _read(text: str, whole: bool) -> Script | Unreadable:  # noqa: FBT001 — a key
    return read_script_uncached(text, whole=whole)


_remembered = lru_cache(maxsize=1024)(_read)

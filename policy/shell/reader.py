"""Parses shell scripts into simple commands, with a cache."""

from __future__ import annotations

from functools import lru_cache

from policy.shell.script import Script
from policy.values import Unreadable

# Short scripts are cached: one decision parses the same ones several times.
_SHORT = 2_048


def read_script(text: str) -> Script | Unreadable:
    """Parse a shell script as bash does; an ambiguity is a gap or makes it Unreadable."""
    return _cached(text) if len(text) <= _SHORT else read_script_uncached(text)


def read_script_uncached(text: str) -> Script | Unreadable:
    """Parse a script without the cache of results."""
    # Imported here: the parser is large, and many calls run no script.
    from policy.shell import full_reader

    return full_reader.read_script_uncached(text)


_cached = lru_cache(maxsize=1024)(read_script_uncached)

"""Symbolic links of this machine's disk, for deciding calls that would run here."""

from __future__ import annotations

import os


def follow_links(path: str) -> str | None:
    """Return the path with all links followed, through its deepest existing folder.

    None where that cannot be known: a loop, or a folder that may not be looked into.
    """
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        parent, name = os.path.split(path)
        if parent == path:
            return path
        above = follow_links(parent)
        return None if above is None else os.path.join(above, name)
    except (OSError, ValueError):
        return None
    try:
        return os.path.realpath(path, strict=True)
    except FileNotFoundError:
        return _dangling(path)
    except (OSError, ValueError):
        return None


def _dangling(link: str) -> str | None:
    """Follow a link whose target does not exist: what is written there appears at the target."""
    try:
        target = os.readlink(link)
    except OSError:
        return None
    return follow_links(os.path.normpath(os.path.join(os.path.dirname(link), target)))

"""File names as they are shown: relative to where the reader is."""

from __future__ import annotations

# Files that ship with Placet are in no folder of the user.
_SHIPPED = "placet:"


def is_shipped(file: str) -> bool:
    """Return whether a file ships with Placet rather than with the policy."""
    return file.startswith(_SHIPPED)


def display_name(file: str, *, root: str) -> str:
    """Return a file's name with the path `root` (`rules/`) to its folder."""
    return file if is_shipped(file) else root + file

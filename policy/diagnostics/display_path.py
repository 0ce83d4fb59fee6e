"""File names as they are shown: relative to where the reader is."""

from __future__ import annotations

# What ships with Placet lies in no folder of the reader's.
_SHIPPED = "placet:"


def is_shipped(file: str) -> bool:
    """Tell whether a file comes with Placet and not with the policy."""
    return file.startswith(_SHIPPED)


def display_name(file: str, *, root: str) -> str:
    """Return a file's name as seen from where `root` (`rules/`) is."""
    return file if is_shipped(file) else root + file

"""Which paths are in which folders, for paths without links."""

from __future__ import annotations

from collections.abc import Iterable


def is_within(path: str, folders: Iterable[str]) -> bool:
    """Return whether a path is one of some folders, or in one."""
    return any(path == each or path.startswith(each.rstrip("/") + "/") for each in folders)

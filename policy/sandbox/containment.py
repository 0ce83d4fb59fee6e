"""Which paths are in which folders, for paths without links."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator


def is_within(path: str, folders: Iterable[str]) -> bool:
    """Return whether a path is one of some folders, or in one."""
    return any(path == each or path.startswith(each.rstrip("/") + "/") for each in folders)


def folders_above(path: str, roots: Collection[str]) -> Iterator[str]:
    """Yield the folders that hold a path, up to the outermost root that it is in."""
    while is_within(path := os.path.dirname(path), roots):
        yield path

"""`HeldFolders`: the folders that a module is handed, as the descriptors by which it gets them.

A module is compiled together with the names of its folders, and they are opened when it is called.
Until then, another call may have put a link in the place of one of them: a descriptor names the
folder itself.
"""

from __future__ import annotations

import os
import sys
import weakref
from collections.abc import Iterable

from policy.sandbox import CannotConfine

# Elsewhere no name leads to what is open, so that a moment remains between a look and the use.
_BY_DESCRIPTOR = sys.platform.startswith("linux")


class HeldFolders:
    """Folders that are held open until nothing uses this; CannotConfine for one behind a link."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._opened: dict[str, int] = {}
        weakref.finalize(self, _close, self._opened)
        for path in paths:
            self._opened[path] = _opened(path)

    def name_of(self, path: str) -> str:
        """Return a name by which this process opens the folder that is held of a path."""
        return f"/proc/self/fd/{self._opened[path]}" if _BY_DESCRIPTOR else path

    def are_there(self) -> bool:
        """Return whether the paths still lead to these folders; CannotConfine, as for new ones."""
        for path, held in self._opened.items():
            now = _opened(path)
            try:
                if not os.path.sameopenfile(now, held):
                    return False
            finally:
                os.close(now)
        return True


def _opened(path: str) -> int:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        raise CannotConfine(f"{path} cannot be opened as a folder: {error.strerror}") from error
    if _path_of(descriptor, path) == path:
        return descriptor
    os.close(descriptor)
    raise CannotConfine(f"{path} leads over a symbolic link by now")


def _path_of(descriptor: int, path: str) -> str:
    by_descriptor = f"/proc/self/fd/{descriptor}"
    return os.readlink(by_descriptor) if _BY_DESCRIPTOR else os.path.realpath(path)


def _close(opened: dict[str, int]) -> None:
    for descriptor in opened.values():
        os.close(descriptor)

"""Detects whether the file systems of this machine distinguish letter case.

Nothing is written: a name in a folder is looked up in the other letter case, and if that finds the
same file, the folder ignores case.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterator
from itertools import chain, islice
from time import monotonic
from typing import TypeAlias

LookAt: TypeAlias = Callable[[str], os.stat_result]

# A file system can be mounted anywhere at any time, so answers expire soon.
_KEPT_SECONDS = 10.0
_MOST_KEPT = 4096
_MOST_NAMES = 64
_CASED = re.compile(r"[A-Za-z]")


class LetterCase:
    """Whether folders ignore letter case, cached for some seconds. `look` is the disk's `lstat`."""

    def __init__(self, look: LookAt = os.lstat, *, clock: Callable[[], float] = monotonic) -> None:
        self._look = look
        self._clock = clock
        # For each folder: whether it ignores case, and whether it or a folder above it does.
        self._cached: dict[str, tuple[bool, bool]] = {}
        self._since = clock()

    def folds(self, path: str) -> bool:
        """Return whether some folder on the way to a path ignores letter case.

        Also True where that cannot be determined.
        """
        if self._clock() - self._since > _KEPT_SECONDS or len(self._cached) > _MOST_KEPT:
            self._cached.clear()
            self._since = self._clock()
        cached = self._cached.get(path.rpartition("/")[0] or "/")
        return self._some_folder_folds(path) if cached is None else cached[1]

    def _some_folder_folds(self, path: str) -> bool:
        """Probe the folders from the deepest cached one to the last that exists."""
        folder, names = path.rpartition("/")[0] or "/", [path.rpartition("/")[2]]
        while folder != "/" and folder not in self._cached:
            above, _, name = folder.rpartition("/")
            folder = above or "/"
            names.append(name)
        answer = self._cached.get(folder) or self._learn(folder, names[-1], above=(True, False))
        while len(names) > 1:
            folder = os.path.join(folder, names.pop())
            if not _is_folder(folder):
                break
            answer = self._learn(folder, names[-1], above=answer)
        return answer[1]

    def _learn(self, folder: str, name: str, *, above: tuple[bool, bool]) -> tuple[bool, bool]:
        folds = self._folder(folder, name, like=above[0])
        self._cached[folder] = (folds, folds or above[1])
        return self._cached[folder]

    def _folder(self, folder: str, name: str, *, like: bool) -> bool:
        """Probe a folder by a name in it; without a name in it, it is like the folder above."""
        for other in chain((name,), _names_in(folder)):
            same = self._finds_swapped(folder, other)
            if same is not None:
                return same
        return like if _is_like_above(folder) else True

    def _finds_swapped(self, folder: str, name: str) -> bool | None:
        """Return whether the name in the other case is the same file; None if inconclusive."""
        if not name.isascii() or not _CASED.search(name):
            return None
        try:
            state = self._look(os.path.join(folder, name))
        except (OSError, ValueError):
            return None
        if state.st_nlink > 1 and not stat.S_ISDIR(state.st_mode):
            return None  # both cases may be names of one file
        try:
            other = self._look(os.path.join(folder, name.swapcase()))
        except FileNotFoundError:
            return False
        except OSError:
            return None
        return (state.st_dev, state.st_ino) == (other.st_dev, other.st_ino)


def _is_like_above(folder: str) -> bool:
    """Return whether a folder is on the same file system as its parent."""
    try:
        above = os.stat(os.path.dirname(folder)).st_dev
        return folder != "/" and os.stat(folder).st_dev == above
    except OSError:
        return False


def _is_folder(path: str) -> bool:
    try:
        return stat.S_ISDIR(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False


def _names_in(folder: str) -> Iterator[str]:
    try:
        with os.scandir(folder) as entries:
            yield from [entry.name for entry in islice(entries, _MOST_NAMES)]
    except OSError:
        return

"""`WorkspaceQuota`: whether a folder may get more content, by what is in it.

The content is counted before a call, so that a call which begins below the quota may end above it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field

# A count is used again for so many times as long as it took, so that it costs a tenth at most.
_REUSED = 10.0
_MOST_KEPT = 1_000
_BLOCK = 512  # the unit of st_blocks, whatever the file system's is


class WorkspaceFull(Exception):
    """A workspace has no room by its quota; the text says why."""


@dataclass(slots=True, kw_only=True, eq=False)
class WorkspaceQuota:
    """How many bytes of disk, and how many files and folders, a workspace may have."""

    bytes: int
    files: int
    clock: Callable[[], float] = time.monotonic
    # The folders that had room, each with the time until which that counts.
    _had_room: dict[str, float] = field(default_factory=dict, init=False)

    def require_room(self, folder: str) -> None:
        """Raise WorkspaceFull for a folder with more content, or that cannot be counted."""
        start = self.clock()
        if start < self._had_room.get(folder, start):
            return
        self._count(folder)
        now = self.clock()
        if len(self._had_room) >= _MOST_KEPT:
            self._had_room.clear()
        self._had_room[folder] = now + _REUSED * (now - start)

    def _count(self, folder: str) -> None:
        files = used = 0
        # Files with several names, which take their room once.
        seen: set[tuple[int, int]] = set()
        pending = [folder]
        while pending:
            for entry in _entries(pending.pop()):
                files += 1
                if files > self.files:
                    raise WorkspaceFull(f"it has more than {self.files:,} files and folders")
                try:
                    state = entry.stat(follow_symlinks=False)
                except FileNotFoundError:
                    continue
                if entry.is_dir(follow_symlinks=False):
                    pending.append(entry.path)
                elif state.st_nlink > 1:
                    if (state.st_dev, state.st_ino) in seen:
                        continue
                    seen.add((state.st_dev, state.st_ino))
                used += state.st_blocks * _BLOCK
                if used > self.bytes:
                    raise WorkspaceFull(f"it has more than {self.bytes:,} bytes")


def _entries(folder: str) -> list[os.DirEntry[str]]:
    """Return what is in a folder, nothing if it is gone; raise WorkspaceFull if it is closed."""
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise WorkspaceFull(f"a folder in it cannot be counted: {error.strerror}") from error

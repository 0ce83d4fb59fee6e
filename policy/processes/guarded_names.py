"""Whether files and folders still have their names; the supervisor of a program imports it.

A sandbox protects a file by a mount on it. The kernel takes the mount away where the file is
replaced or removed, and the mount goes with one that is renamed, whoever does that outside. Linux
reports such changes (inotify). Names are looked at now and then as well: a file system that other
machines write reports nothing, and there is a limit to how much of a user's files is watched.
"""

from __future__ import annotations

import os
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import TypeAlias

    # The device and the number of a file; None where there is none.
    _Identity: TypeAlias = tuple[int, int] | None

# <linux/inotify.h>
_ATTRIBUTES, _MOVED, _DELETED = 0x004, 0x800, 0x400
_DONT_FOLLOW = 0x02000000
_FLAGS = os.O_NONBLOCK | os.O_CLOEXEC
_HEADER = 16  # bytes of an event: its watch, what has happened, a cookie, the length of a name
_BUFFER = 65_536
# Seconds between two looks at all names: as a rule, after something was reported, and where the
# system does not report changes of all of them.
_SELDOM, _SOON, _OFTEN = 1.0, 0.01, 0.02


class GuardedNames:
    """Some files and folders, as their names lead to them when this is made."""

    def __init__(
        self, paths: Iterable[str], *, ticks: Callable[[], float] = time.monotonic
    ) -> None:
        self._ticks = ticks
        self._found = {path: _identity(path) for path in paths}
        self._above = {path: _identity(os.path.dirname(path)) for path in self._found}
        self._reports = _Reports(self._found)
        # The first look comes at once, for what has happened before it was reported.
        self._next_look = ticks()

    @property
    def descriptors(self) -> list[int]:
        """What becomes readable once something may have happened."""
        return self._reports.descriptors

    def wait(self) -> float:
        """Return how many seconds may pass until `lost` has to be called."""
        return max(0.0, self._next_look - self._ticks())

    def lost(self) -> str | None:
        """Return a name that leads to something else by now, or to nothing; None if none does."""
        now = self._ticks()
        for path in self._reports.read():
            # The kernel may report it just before the name is gone.
            self._next_look = min(self._next_look, now + _SOON)
            if _is_another(_identity(path), self._found[path]):
                return path
        if now < self._next_look:
            return None
        self._next_look = now + (_SELDOM if self._reports.complete else _OFTEN)
        return next(filter(self._is_lost, self._found), None)

    def _is_lost(self, path: str) -> bool:
        if self._found[path] is None:
            return True
        if not _is_another(_identity(path), self._found[path]):
            return False
        # Where its folder was moved, it has gone along, and the mount on it as well.
        return not _is_another(_identity(os.path.dirname(path)), self._above[path])


def _identity(path: str) -> _Identity:
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _is_another(now: _Identity, before: _Identity) -> bool:
    return now is None or now != before


class _Reports:
    """What Linux reports of some files; it is not `complete` where it cannot report all of them."""

    def __init__(self, paths: Iterable[str]) -> None:
        self.complete = False
        self.descriptors: list[int] = []
        self._paths: dict[int, list[str]] = {}
        descriptor = _call("inotify_init1", _FLAGS)
        if descriptor < 0:
            return
        self.descriptors.append(descriptor)
        self.complete = self._watch(descriptor, paths)

    def _watch(self, descriptor: int, paths: Iterable[str]) -> bool:
        complete = True
        events = _ATTRIBUTES | _MOVED | _DELETED | _DONT_FOLLOW
        for path in paths:
            watch = _call("inotify_add_watch", descriptor, os.fsencode(path), events)
            if watch < 0:
                complete = False
            else:
                # Files with several names have one watch.
                self._paths.setdefault(watch, []).append(path)
        return complete

    def read(self) -> Iterator[str]:
        """Yield the names of files of which something was reported since the last time."""
        for descriptor in self.descriptors:
            try:
                events = os.read(descriptor, _BUFFER)
            except BlockingIOError:
                return
            for watch in set(_watches(events)):
                if watch in self._paths:
                    yield from self._paths[watch]
                else:
                    # More has happened than the kernel keeps.
                    yield from (path for paths in self._paths.values() for path in paths)


def _watches(events: bytes) -> Iterator[int]:
    """Yield the watch of each event; -1 where some were lost."""
    start = 0
    while start < len(events):
        watch, length = (
            int.from_bytes(events[start + offset : start + offset + 4], sys.byteorder, signed=True)
            for offset in (0, 12)
        )
        yield watch
        start += _HEADER + length


def _call(function: str, *arguments: int | bytes) -> int:
    """Call a function of Linux; return -1 where it fails."""
    try:
        import ctypes
    except ImportError:  # Python was built without libffi
        return -1
    return int(getattr(ctypes.CDLL(None), function)(*arguments))

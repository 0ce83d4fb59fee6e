"""Whether files and folders still have their names; the supervisor of a program imports it.

A sandbox protects a file by a mount on it. The kernel takes the mount away where the file is
replaced or removed, and the mount goes with one that is renamed, whoever does that outside. Linux
reports such changes (inotify). Names are looked at now and then as well: a file system that other
machines write reports nothing, and there is a limit to how much of a user's files is watched.

A file is known by its number, which the next one may get once it is gone. So each file is held open
(without being opened to read), which keeps its number. A folder is not, where the system reports of
it: it would report the end of one only once nobody holds it.
"""

from __future__ import annotations

import os
import stat
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
_UNMOUNTED, _UNWATCHED, _TOO_MANY = 0x2000, 0x8000, 0x4000
# The file has no name any more, or nobody knows what has happened to it.
_GONE = _DELETED | _UNMOUNTED | _UNWATCHED | _TOO_MANY
_DONT_FOLLOW = 0x02000000
_FLAGS = os.O_NONBLOCK | os.O_CLOEXEC
_HEADER = 16  # bytes of an event: its watch, what has happened, a cookie, the length of a name
_BUFFER = 65_536
_SPARE = 100  # descriptors that are left for the rest of the process
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
        self._held = [*_held(self._found, self._reports)]
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
        for path, is_gone in self._reports.read():
            # The kernel may report it just before the name is gone.
            self._next_look = min(self._next_look, now + _SOON)
            if is_gone or _is_another(_identity(path), self._found[path]):
                return path
        if now < self._next_look:
            return None
        self._next_look = now + (_SELDOM if self._reports.complete else _OFTEN)
        return next(filter(self._is_lost, self._found), None)

    def look_again(self) -> None:
        """Have the next `lost` look at all names."""
        self._next_look = self._ticks()

    def close(self) -> None:
        """Guard nothing any more."""
        for descriptor in (*self.descriptors, *self._held):
            os.close(descriptor)

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


def _held(paths: Iterable[str], reports: _Reports) -> Iterator[int]:
    """Open what would not be known again by its number alone, and yield the descriptors."""
    most = os.sysconf("SC_OPEN_MAX")  # -1: as many as one likes
    for path in paths:
        try:
            descriptor = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            continue
        is_folder = stat.S_ISDIR(os.fstat(descriptor).st_mode)
        if (is_folder and reports.watches(path)) or 0 <= most <= descriptor + _SPARE:
            os.close(descriptor)
        else:
            yield descriptor


def _is_another(now: _Identity, before: _Identity) -> bool:
    return now is None or now != before


class _Reports:
    """What Linux reports of some files; it is not `complete` where it cannot report all of them."""

    def __init__(self, paths: Iterable[str]) -> None:
        self.complete = False
        self.descriptors: list[int] = []
        self._paths: dict[int, list[str]] = {}
        self._watched: set[str] = set()
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
                self._watched.add(path)
        return complete

    def watches(self, path: str) -> bool:
        """Return whether changes of a file are reported."""
        return path in self._watched

    def read(self) -> Iterator[tuple[str, bool]]:
        """Yield the names of files of which something was reported, and whether they are gone."""
        for descriptor in self.descriptors:
            try:
                events = os.read(descriptor, _BUFFER)
            except BlockingIOError:
                return
            for watch, is_gone in set(_changes(events)):
                # Of no watch: more has happened than the kernel keeps.
                paths = [self._paths[watch]] if watch in self._paths else self._paths.values()
                yield from ((path, is_gone) for each in paths for path in each)


def _changes(events: bytes) -> Iterator[tuple[int, bool]]:
    """Yield the watch of each event, -1 where some were lost, and whether the file is gone."""
    start = 0
    while start < len(events):
        watch, happened, length = (
            int.from_bytes(events[start + offset : start + offset + 4], sys.byteorder, signed=True)
            for offset in (0, 4, 12)
        )
        yield watch, bool(happened & _GONE)
        start += _HEADER + length


def _call(function: str, *arguments: int | bytes) -> int:
    """Call a function of Linux; return -1 where it fails."""
    try:
        import ctypes
    except ImportError:  # Python was built without libffi
        return -1
    return int(getattr(ctypes.CDLL(None), function)(*arguments))

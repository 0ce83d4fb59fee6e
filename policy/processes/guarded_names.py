"""Whether files and folders still have their names; the supervisor of a program imports it.

A sandbox protects a file by a mount on it. The kernel takes the mount away where the file is
replaced or removed, and the mount goes with one that is renamed, whoever does that outside. Linux
reports such changes (inotify). Names are looked at now and then as well: a file system that other
machines write reports nothing, and there is a limit to how much of a user's files is watched.

A file is known by its number, which the next one may get once it is gone. So each one is held open
(without being opened to read), which keeps its number. That delays the report that it has ended: of
a file, the report comes first that a name of it was removed, and of a folder, that the one above it
has lost a name.
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
_UNMOUNTED, _UNWATCHED, _TOO_MANY = 0x2000, 0x8000, 0x4000
# Nothing holds the file any more, which has no name.
_GONE = _DELETED | _UNMOUNTED | _UNWATCHED
_DELETED_INSIDE = 0x200
_DONT_FOLLOW, _AND_BEFORE = 0x02000000, 0x20000000
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
        self._held = [*_held(self._found)]
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


def _held(paths: Iterable[str]) -> Iterator[int]:
    """Open as many as this process may, and yield the descriptors."""
    most = os.sysconf("SC_OPEN_MAX")  # -1: as many as one likes
    for path in paths:
        try:
            descriptor = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            continue
        if 0 <= most <= descriptor + _SPARE:
            os.close(descriptor)
            return
        yield descriptor


def _is_another(now: _Identity, before: _Identity) -> bool:
    return now is None or now != before


class _Reports:
    """What Linux reports of some files; it is not `complete` where it cannot report all of them."""

    def __init__(self, paths: Iterable[str]) -> None:
        self.complete = False
        self.descriptors: list[int] = []
        self._paths: dict[int, list[str]] = {}
        self._inside: dict[int, list[str]] = {}
        self._watched: set[str] = set()
        descriptor = _call("inotify_init1", _FLAGS)
        if descriptor < 0:
            return
        self.descriptors.append(descriptor)
        self.complete = self._watch(descriptor, paths)

    def _watch(self, descriptor: int, paths: Iterable[str]) -> bool:
        complete = True
        for path in paths:
            watched = [(path, _ATTRIBUTES | _MOVED | _DELETED, self._paths)]
            if os.path.isdir(path):
                # Its own end is reported once nobody holds it any more.
                watched.append((os.path.dirname(path), _DELETED_INSIDE, self._inside))
            for place, events, paths_of in watched:
                flags = events | _DONT_FOLLOW | _AND_BEFORE
                watch = _call("inotify_add_watch", descriptor, os.fsencode(place), flags)
                if watch < 0:
                    complete = False
                else:
                    # Files with several names have one watch.
                    paths_of.setdefault(watch, []).append(path)
                    self._watched.add(path)
        return complete

    def read(self) -> Iterator[tuple[str, bool]]:
        """Yield the names of files of which something was reported, and whether they are gone."""
        for descriptor in self.descriptors:
            try:
                events = os.read(descriptor, _BUFFER)
            except BlockingIOError:
                return
            for watch, happened in set(_changes(events)):
                yield from ((path, bool(happened & _GONE)) for path in self._of(watch, happened))

    def _of(self, watch: int, happened: int) -> Iterable[str]:
        """Return the paths that an event may concern."""
        if happened & _TOO_MANY:  # more than the kernel keeps
            return self._watched
        return (self._inside if happened & _DELETED_INSIDE else self._paths).get(watch, ())


def _changes(events: bytes) -> Iterator[tuple[int, int]]:
    """Yield the watch of each event, and what has happened."""
    start = 0
    while start < len(events):
        watch, happened, length = (
            int.from_bytes(events[start + offset : start + offset + 4], sys.byteorder, signed=True)
            for offset in (0, 4, 12)
        )
        yield watch, happened
        start += _HEADER + length


def _call(function: str, *arguments: int | bytes) -> int:
    """Call a function of Linux; return -1 where it fails."""
    try:
        import ctypes
    except ImportError:  # Python was built without libffi
        return -1
    return int(getattr(ctypes.CDLL(None), function)(*arguments))

"""Follows symbolic links on this machine's disk, for deciding calls that would run here.

Each path is examined at most once: everything that asks the same `Links` gets the same answers,
even if the disk has changed since.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from enum import Enum

# The limit after which the kernel reports a loop.
_MOST_LINKS = 40
# Errors of the system for a path that does not exist yet.
_NOTHING = (errno.ENOENT, errno.ENOTDIR)
# Links whose text is not their target, or whose target differs between processes.
_MAGIC_LINK = re.compile(r"/proc/([^/]+/(root|cwd|exe|fd/.*|map_files/.*|task/.*)|thread-self)$")
# This is the asking process, and the judged call runs in another one.
_OWN_PROCESS = "/proc/self"


class _Is(Enum):
    """What is at a path, if it is not a link."""

    THERE = 1
    SHARED = 2  # a file with several hard links
    NOTHING = 3
    UNKNOWN = 4
    FOLDER = 5


class Links:
    """Follows links for one call and detects files with several hard links, caching both.

    It also records which file (device and inode) was at each path, for the tool that opens it
    later.
    """

    __slots__ = ("_answers", "_identities", "_seen")

    def __init__(self) -> None:
        self._answers: dict[str, str | None] = {}
        # What is at each path whose folder has no links; a string is the target of a link.
        self._seen: dict[str, _Is | str] = {}
        # Device and inode of those that exist.
        self._identities: dict[str, tuple[int, int]] = {}

    def follow(self, path: str) -> str | None:
        """Return an absolute path with all links followed, as far as it exists.

        A write through a dangling link creates the link's target, so such a link is followed too.
        None where the target is unknown: a loop, a name too long, a link of /proc, or a folder
        without permission.
        """
        if path in self._answers:
            return self._answers[path]
        answer = self._answers[path] = self._walk(path)
        return answer

    def other_names(self, path: str) -> bool:
        """Return whether a path without links is a file with several hard links."""
        return self._look(path) is _Is.SHARED

    def is_folder(self, path: str) -> bool:
        """Return whether a path without links is a folder, or cannot be examined."""
        return self._look(path) in (_Is.FOLDER, _Is.UNKNOWN)

    def identity(self, path: str) -> tuple[int, int] | None:
        """Return device and inode of the file at a path without links when it was first examined.

        None where nothing was there, or it could not be examined.
        """
        self._look(path)
        return self._identities.get(path)

    def _walk(self, path: str) -> str | None:
        steps = path.split("/")[::-1]
        here, links, exists = "/", 0, True
        while steps:
            step = steps.pop()
            if step in ("", "."):
                continue
            if step == "..":
                if not exists:
                    return None  # the folder of this `..` does not exist
                here = os.path.dirname(here)
                continue
            there = f"/{step}" if here == "/" else f"{here}/{step}"
            found = self._look(there) if exists else _Is.NOTHING  # nor anything below it
            if found is _Is.UNKNOWN:
                return None
            if isinstance(found, _Is):
                exists, here = found is not _Is.NOTHING, there
                continue
            links += 1
            if links > _MOST_LINKS:
                return None
            steps.extend(found.split("/")[::-1])
            if found.startswith("/"):
                here = "/"
        return here

    def _look(self, place: str) -> _Is | str:
        """Return what is at a path whose folder has no links on the way."""
        found = self._seen.get(place)
        if found is None:
            found, state = _look_at(place)
            self._seen[place] = found
            if state is not None:
                self._identities[place] = _identity(state)
        return found


def follow_links(path: str) -> str | None:
    """Return an absolute path with all links followed, as `Links.follow` does."""
    return Links().follow(path)


def _look_at(place: str) -> tuple[_Is | str, os.stat_result | None]:
    """Return what is at a path, and its stat result unless it is a link."""
    if place == _OWN_PROCESS:
        return _Is.THERE, None
    try:
        state = os.lstat(place)
        if stat.S_ISLNK(state.st_mode):
            return (_Is.UNKNOWN if _MAGIC_LINK.search(place) else os.readlink(place)), None
    except OSError as problem:
        return (_Is.NOTHING if problem.errno in _NOTHING else _Is.UNKNOWN), None
    except ValueError:
        return _Is.UNKNOWN, None  # a NUL
    return _kind(state), state


def _identity(state: os.stat_result) -> tuple[int, int]:
    return state.st_dev, state.st_ino


def _kind(state: os.stat_result) -> _Is:
    if stat.S_ISDIR(state.st_mode):
        return _Is.FOLDER
    shared = state.st_nlink > 1 and stat.S_ISREG(state.st_mode)
    return _Is.SHARED if shared else _Is.THERE

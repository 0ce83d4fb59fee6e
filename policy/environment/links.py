"""Symbolic links of this machine's disk, for deciding calls that would run here.

Each place is looked at at most once: all that asks one `Links` is given the same answers, whatever
has happened on the disk since.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from enum import Enum

# As many as the kernel follows before it takes a path for a loop.
_MOST_LINKS = 40
# What the system says of a place where nothing is yet.
_NOTHING = (errno.ENOENT, errno.ENOTDIR)
# Links whose text is not where they lead, or that lead every process elsewhere.
_MAGIC_LINK = re.compile(r"/proc/([^/]+/(root|cwd|exe|fd/.*|map_files/.*|task/.*)|thread-self)$")
# This leads to the process that asks, and the one that is judged is another.
_OWN_PROCESS = "/proc/self"


class _Is(Enum):
    """What stands at a place, if it is no link."""

    THERE = 1
    SHARED = 2  # a file with other names too (hard links)
    NOTHING = 3
    UNKNOWN = 4


class Links:
    """Follows links for one call, and says which files have other names; a memory of both.

    It also keeps which file (device and inode) stood where, for the tool that opens it later.
    """

    __slots__ = ("_answers", "_identities", "_seen")

    def __init__(self) -> None:
        self._answers: dict[str, str | None] = {}
        # What stands at places without links on the way; a text is the target of a link.
        self._seen: dict[str, _Is | str] = {}
        # Device and inode of those of them that are there.
        self._identities: dict[str, tuple[int, int]] = {}

    def follow(self, path: str) -> str | None:
        """Return an absolute path with all links followed, as far as it exists.

        What is written through a link to nowhere appears where the link leads, so such a link is
        followed too. None where that cannot be known: a loop, a name too long, a link of /proc, or
        a folder that may not be looked into.
        """
        if path in self._answers:
            return self._answers[path]
        answer = self._answers[path] = self._walk(path)
        return answer

    def other_names(self, path: str) -> bool:
        """Tell whether a path without links is a file that has other names too."""
        return self._look(path) is _Is.SHARED

    def identity(self, path: str) -> tuple[int, int] | None:
        """Return device and inode of what stood at a path without links when it was first seen.

        None where nothing stood there, or nothing that could be looked at.
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
                    return None  # the folder that this would leave is not there
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
        """Return what stands at a place whose folder has no links on the way."""
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
    """Return what stands at a place, and its state where that is no link."""
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
    shared = state.st_nlink > 1 and stat.S_ISREG(state.st_mode)
    return _Is.SHARED if shared else _Is.THERE

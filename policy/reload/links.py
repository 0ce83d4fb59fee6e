"""Symbolic links of this machine's disk, for deciding calls that would run here."""

from __future__ import annotations

import errno
import os

# As many as the kernel follows before it takes a path for a loop.
_MOST_LINKS = 40
# What `readlink` says of a place that is no link, and of one where nothing is yet.
_NO_LINK = errno.EINVAL
_NOTHING = (errno.ENOENT, errno.ENOTDIR)


def follow_links(path: str) -> str | None:
    """Return an absolute path with all links followed, as far as it exists.

    What is written through a link to nowhere appears where the link leads, so such a link is
    followed too. None where that cannot be known: a loop, a name too long, or a folder that may
    not be looked into.
    """
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
        there = os.path.join(here, step)
        try:
            target = os.readlink(there)
        except OSError as problem:
            if problem.errno != _NO_LINK and problem.errno not in _NOTHING:
                return None
            exists = problem.errno == _NO_LINK
            here = there
            continue
        except ValueError:
            return None  # a NUL
        links += 1
        if links > _MOST_LINKS:
            return None
        steps.extend(target.split("/")[::-1])
        if target.startswith("/"):
            here = "/"
    return here

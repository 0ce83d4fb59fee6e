"""Lists the symbolic links on a path: moving one of them redirects the path."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterator

# The limit after which the kernel reports a loop.
_MOST_LINKS = 40


def links_on_the_way(path: str) -> Iterator[str]:
    """Yield the links on an absolute path, each by its path without links above it."""
    steps, here, links = path.split("/")[::-1], "/", 0
    while steps and links <= _MOST_LINKS:
        step = steps.pop()
        if step in ("", "."):
            continue
        if step == "..":
            here = posixpath.dirname(here)
            continue
        there = posixpath.join(here, step)
        try:
            target = os.readlink(there)
        except OSError:
            here = there  # not a link, or does not exist
            continue
        links += 1
        yield there
        steps.extend(target.split("/")[::-1])
        if target.startswith("/"):
            here = "/"

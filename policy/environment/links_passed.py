"""A path in, the links that it passes out: whoever moves one of them leads the path elsewhere."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterator

# As many as the kernel follows before it takes a path for a loop.
_MOST_LINKS = 40


def links_on_the_way(path: str) -> Iterator[str]:
    """Yield the links that an absolute path passes, each by a name without links above it."""
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
            here = there  # no link, or nothing at all
            continue
        links += 1
        yield there
        steps.extend(target.split("/")[::-1])
        if target.startswith("/"):
            here = "/"

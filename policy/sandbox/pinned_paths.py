"""Paths held open between planning a sandbox and starting it.

A path can be replaced by a link in the meantime, also by a program that runs in another sandbox of
the same workspace. A descriptor names the file itself.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager

from policy.sandbox.plan import CannotConfine

# Each takes a descriptor of this process while a program starts.
MOST = 400


@contextmanager
def pinned(paths: Collection[str]) -> Iterator[Mapping[str, int]]:
    """Open each path in the block; raise CannotConfine for one that leads over a link."""
    if len(paths) > MOST:
        raise CannotConfine(
            f"{len(paths)} folders and files are too many to mount, with those above hidden files: "
            f"{MOST} can be; a person has to name folders in rules that hide files, or fewer",
            for_caller=True,
        )
    with ExitStack() as opened:
        descriptors = {}
        for path in paths:
            descriptor = descriptors[path] = _opened(path)
            opened.callback(os.close, descriptor)
            if os.readlink(f"/proc/self/fd/{descriptor}") != path:
                raise _swapped(path)
        yield descriptors


def _swapped(path: str) -> CannotConfine:
    said = f"{path} leads over a symbolic link by now: a program has replaced it in the meantime"
    return CannotConfine(said, for_caller=True)


def _opened(path: str) -> int:
    try:
        return os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError as error:
        raise CannotConfine(f"{path} cannot be opened: {error.strerror}") from error

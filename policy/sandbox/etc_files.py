"""What a sandbox with mounts of its own has of `/etc`: copies of files, and mounted folders.

A mount takes longer to set up than a small file to be copied, and every command waits for it.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import islice

from policy.sandbox.system_files import ETC

_LARGEST = 1_000_000  # bytes of a file
_MOST = 12  # files of a folder


@dataclass(frozen=True, slots=True, kw_only=True)
class EtcFiles:
    """The arguments of bubblewrap for them, and the open files that these name."""

    arguments: tuple[str, ...]
    descriptors: tuple[int, ...]


@contextmanager
def etc_files(masked: Collection[str] = ()) -> Iterator[EtcFiles]:
    """Open the files in the block. What is missing, or may not be read, is left out.

    So is a link to what is `masked`, in this place or in another one: a copy would show it.
    """
    arguments: list[str] = []
    descriptors: list[int] = []
    with ExitStack() as opened:
        for path in etc_paths():
            if masked and _is_masked(os.path.realpath(path), masked):
                continue
            try:
                descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
            except OSError:
                continue
            opened.callback(os.close, descriptor)
            if _is_small_file(os.fstat(descriptor)):
                descriptors.append(descriptor)
                arguments += ("--perms", "0444", "--file", str(descriptor), path)
            else:
                arguments += ("--ro-bind-try", path, path)
        yield EtcFiles(arguments=tuple(arguments), descriptors=tuple(descriptors))


def etc_paths() -> tuple[str, ...]:
    """Return the files and folders of `/etc` that a program is shown, if they are there."""
    return tuple(path for name in ETC for path in _files(f"/etc/{name}"))


def _is_masked(path: str, masked: Collection[str]) -> bool:
    return any(path == each or path.startswith(f"{each}/") for each in masked)


def _files(path: str) -> list[str]:
    """Return a path, or the files in it if it is a folder of few files and nothing else."""
    try:
        with os.scandir(path) as entries:
            first = islice(entries, _MOST + 1)
            found = [(each.path, _is_small_file(each.stat())) for each in first]
    except OSError:
        return [path]
    few = len(found) <= _MOST and all(small for _, small in found)
    return [each for each, _ in found] if few else [path]


def _is_small_file(found: os.stat_result) -> bool:
    return stat.S_ISREG(found.st_mode) and found.st_size <= _LARGEST

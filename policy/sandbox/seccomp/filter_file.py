"""A filter of system calls as a descriptor, from which the program that applies it reads it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache

from policy.sandbox.seccomp.filter import filter_of
from policy.sandbox.seccomp.refusals import Refusal


@contextmanager
def open_filter(refused: tuple[Refusal, ...]) -> Iterator[int]:
    """Open the filter that refuses these calls, in memory; raise CannotConfine."""
    content = _filter_of(refused)
    descriptor = os.memfd_create("filter")
    try:
        os.write(descriptor, content)
        os.lseek(descriptor, 0, os.SEEK_SET)
        yield descriptor
    finally:
        os.close(descriptor)


@lru_cache(maxsize=8)
def _filter_of(refused: tuple[Refusal, ...]) -> bytes:
    return filter_of(refused)

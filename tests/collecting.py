"""Collects the garbage of a test, without a walk over all that other tests keep."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collecting() -> Iterator[None]:
    """Collect, at the end of the block, what was made in it and is held by nobody."""
    gc.freeze()
    try:
        yield
        gc.collect()
    finally:
        gc.unfreeze()

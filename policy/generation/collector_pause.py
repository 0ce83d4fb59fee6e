"""Pauses the garbage collector while a generation is built.

What a build makes stays, so looking for cycles in it again and again finds nothing and takes a
third of the time; and a full collection is one long step in which no call is decided. Without it
the goal for a load fails (decisions 0045 and 0065).
"""

from __future__ import annotations

import gc
from _thread import allocate_lock  # `threading` takes a while to import
from collections.abc import Iterator
from contextlib import contextmanager


class _Pauses:
    """How many stretches of work are under way, in all threads."""

    def __init__(self) -> None:
        self.lock = allocate_lock()
        self.running = 0
        self.was_on = False


_pauses = _Pauses()


@contextmanager
def no_collecting() -> Iterator[None]:
    """Keep the collector off until every caller has left the block; then restore it."""
    with _pauses.lock:
        if _pauses.running == 0:
            _pauses.was_on = gc.isenabled()
            gc.disable()
        _pauses.running += 1
    try:
        yield
    finally:
        with _pauses.lock:
            _pauses.running -= 1
            if _pauses.running == 0 and _pauses.was_on:
                _age()
                gc.enable()


def _age() -> None:
    """Mark all objects as old, so that the next small collection does not visit them.

    Freezing and unfreezing does that without visiting any; if other code has frozen objects,
    nothing is done.
    """
    if gc.get_freeze_count() == 0:
        gc.freeze()
        gc.unfreeze()

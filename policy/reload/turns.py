"""A stretch of work beside threads that serve calls, in which Python's threads take short turns.

Reading a folder lets go of the interpreter at every system call, and gets it back from a thread
that is never idle only once that one's turn is over: 5 ms, some hundreds of times. An edit came in
force after seconds then. With turns of half a millisecond the work gets on, and whoever serves
calls waits less as well.
"""

from __future__ import annotations

import sys
from _thread import allocate_lock  # `threading` takes a while to import
from collections.abc import Iterator
from contextlib import contextmanager

# Shorter ones made everything slower, calls too (docs/decisions/0018).
_SECONDS = 0.0005


class _Stretches:
    """How many stretches are under way, in all threads, and how long turns were before."""

    def __init__(self) -> None:
        self.lock = allocate_lock()
        self.running = 0
        self.before = 0.0


_stretches = _Stretches()


@contextmanager
def short_turns() -> Iterator[None]:
    """Let threads take short turns until the last of those who want that is done.

    Turns that are as short already, and those that somebody set meanwhile, stay as they are.
    """
    with _stretches.lock:
        if _stretches.running == 0:
            _stretches.before = sys.getswitchinterval()
            sys.setswitchinterval(min(_SECONDS, _stretches.before))
        _stretches.running += 1
    try:
        yield
    finally:
        with _stretches.lock:
            _stretches.running -= 1
            ours = abs(sys.getswitchinterval() - min(_SECONDS, _stretches.before)) < _SECONDS / 100
            if _stretches.running == 0 and ours:
                sys.setswitchinterval(_stretches.before)

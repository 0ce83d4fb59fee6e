"""`RunningTime`: the time limit of a running call, which stands still while people are asked."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress


class RunningTime:
    """What is left of a time limit. It does not count while somebody is waited for."""

    def __init__(self, limit: asyncio.Timeout) -> None:
        self._limit = limit
        self._waiting = 0
        self._left = 0.0

    @contextmanager
    def standing_still(self) -> Iterator[None]:
        """Stop the clock until the block ends; blocks may overlap."""
        loop = asyncio.get_running_loop()
        ends = self._limit.when()
        if ends is not None and not self._limit.expired():
            self._left = ends - loop.time()
            self._limit.reschedule(None)
        self._waiting += 1
        try:
            yield
        finally:
            self._waiting -= 1
            if not self._waiting and not self._limit.expired():
                with suppress(RuntimeError):  # the call has ended meanwhile
                    self._limit.reschedule(loop.time() + self._left)

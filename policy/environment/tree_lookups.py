"""What wildcards and trees of one call hold: little of it looked at at once, the rest in a thread.

A long look never holds the loop up, and never takes a thread that tools or reloads use.
"""

from __future__ import annotations

import asyncio

from policy.environment.lookups import MOST_SECONDS, DiskLookups
from policy.model import DiskAnswer, DiskQuery
from policy.runtime import NoThreadFree, Threads

# Names that are looked at without leaving the loop: well below a millisecond.
_FEW = 200
# Looks that wait for longer than this found no thread, or a disk that does not answer.
_PATIENCE = 4 * MOST_SECONDS
_THREADS = Threads("looks at the disk", most=2, patience=_PATIENCE)


class JudgedTrees:
    """The looks of one call, a resolver for Facts; one it does not answer at once is `wanted`."""

    __slots__ = ("_late", "_looking", "wanted")

    def __init__(self, looking: DiskLookups) -> None:
        self._looking = looking
        self._late: set[DiskQuery] = set()
        self.wanted: dict[DiskQuery, None] = {}

    def __call__(self, asked: DiskQuery) -> DiskAnswer | None:
        """Return what is there; None where that takes longer, or took too long."""
        if asked in self.wanted or asked in self._late:
            return None
        seen = self._looking.look_briefly(asked, most=_FEW)
        if seen is None:
            self.wanted[asked] = None
        return seen

    async def settle(self) -> None:
        """Look at all that is wanted, without blocking the loop."""
        wanted, self.wanted = tuple(self.wanted), {}

        def look() -> None:
            for asked in wanted:
                self._looking.look(asked)

        try:
            async with asyncio.timeout(_PATIENCE):
                await _THREADS.run(look)
        except (TimeoutError, NoThreadFree):
            # The thread may still be at it, so that nothing more is asked of it.
            self._late.update(wanted)

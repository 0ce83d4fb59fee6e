"""Look-ups of wildcards and trees for one call: short ones at once, long ones in a thread.

A long look-up never blocks the loop, and never takes a thread that tools or reloads use.
"""

from __future__ import annotations

from policy.environment.lookups import MOST_SECONDS, DiskLookups
from policy.model import DiskAnswer, DiskQuery
from policy.runtime import NoThreadFree, Threads

# Names to examine without leaving the loop: well below a millisecond.
_FEW = 200
# A look-up that waits longer than this got no thread, or the disk does not answer.
_PATIENCE = 4 * MOST_SECONDS
_THREADS = Threads("looks at the disk", most=4, patience=_PATIENCE, fair=True)


class JudgedTrees:
    """The disk queries of one call, a resolver for Facts; unanswered queries are in `pending`."""

    __slots__ = ("_late", "_looking", "pending")

    def __init__(self, looking: DiskLookups) -> None:
        self._looking = looking
        self._late: set[DiskQuery] = set()
        self.pending: dict[DiskQuery, None] = {}

    def __call__(self, asked: DiskQuery) -> DiskAnswer | None:
        """Return the answer; None where it takes longer, or took too long."""
        if asked in self.pending or asked in self._late:
            return None
        seen = self._looking.look_up_briefly(asked, most=_FEW)
        if seen is None:
            self.pending[asked] = None
        return seen

    async def look_up_pending(self) -> None:
        """Answer all queries in `pending`, without blocking the loop."""
        import asyncio

        wanted, self.pending = tuple(self.pending), {}

        def look() -> None:
            for asked in wanted:
                self._looking.look_up(asked)

        try:
            async with asyncio.timeout(_PATIENCE):
                await _THREADS.run(look)
        except (TimeoutError, NoThreadFree):
            # The thread may still be running, so that no further query is made.
            self._late.update(wanted)

"""`DemandPool`: who may have how many of what is opened on demand."""

from __future__ import annotations

from collections.abc import AsyncIterator, Hashable
from contextlib import AsyncExitStack, asynccontextmanager

import pytest

from policy.processes import DemandPool, Lost, OnDemand, Unavailable
from policy.runtime import acting_for


@asynccontextmanager
async def opened(lost: Lost) -> AsyncIterator[str]:
    yield "open"


class Entry:
    """Something that is opened when it is used."""

    def __init__(self, key: int) -> None:
        self.key = key
        self.demand = OnDemand(opened)


async def used(pool: DemandPool[int, Entry], *keys: int, by: Hashable) -> AsyncExitStack:
    """Use the entries of these keys until the stack is closed."""
    stack = AsyncExitStack()
    with acting_for(by):
        for key in keys:
            await stack.enter_async_context(pool.of(key).demand.use())
    return stack


async def test_one_caller_has_half_of_what_is_in_use_and_others_are_served() -> None:
    pool = DemandPool(Entry, most=8)
    greedy = await used(pool, 1, 2, 3, 4, by="greedy")
    with pytest.raises(Unavailable, match="4 of its 8 sessions are in use, 4 of them by this call"):
        await used(pool, 5, by="greedy")
    others = [await used(pool, 10 + at, by=at) for at in range(4)]
    with pytest.raises(Unavailable, match="8 of its 8 sessions are in use, 0 of them by this call"):
        await used(pool, 20, by="late")
    await greedy.aclose()
    async with await used(pool, 20, by="late"):
        pass
    for stack in others:
        await stack.aclose()
    await pool.close()


async def test_what_was_opened_one_after_another_counts_when_it_is_used_at_once() -> None:
    pool = DemandPool(Entry, most=8)
    for key in range(8):
        await (await used(pool, key, by="greedy")).aclose()
    greedy = await used(pool, 0, 1, 2, 3, by="greedy")
    with pytest.raises(Unavailable):
        await used(pool, 4, by="greedy")
    # What is in use already may be used once more, and what nobody uses makes room.
    await (await used(pool, 3, by="greedy")).aclose()
    async with await used(pool, 30, by="other"):
        assert len(pool.states) == 8
    await greedy.aclose()
    await pool.close()

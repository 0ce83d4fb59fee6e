"""`OnDemand`: opened when it is used, with pauses after failures, closed when nobody uses it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from policy.processes import Lost, OnDemand, RestartLimits, Unavailable


class Service:
    """Something that can be opened, fail to open, and be lost."""

    def __init__(self) -> None:
        self.opened = 0
        self.closed = 0
        self.fails: Exception | None = None
        self.hangs = False
        self.lost: Lost = print
        self.changed = asyncio.Event()

    @asynccontextmanager
    async def open(self, lost: Lost) -> AsyncIterator[int]:
        self.opened += 1
        self.lost = lost
        if self.hangs:
            self.changed.set()
            await asyncio.Event().wait()
        if self.fails is not None:
            raise self.fails
        try:
            yield self.opened
        finally:
            self.closed += 1
            self.changed.set()

    async def has_closed(self) -> None:
        await self.changed.wait()
        self.changed.clear()


class Ticks:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


LIMITS = RestartLimits(
    handshake=60,
    first_pause=1,
    longest_pause=4,
    failures=5,
    broken_pause=100,
    steady=10,
    idle=None,
)


def state(demand: OnDemand[int]) -> str:
    return demand.state


async def use(demand: OnDemand[int]) -> int:
    async with demand.use() as value:
        return value


async def test_it_is_opened_once_for_all_who_use_it() -> None:
    service = Service()
    demand = OnDemand(service.open, limits=LIMITS)
    assert state(demand) == "closed"
    assert await asyncio.gather(*(use(demand) for _ in range(5))) == [1] * 5
    assert state(demand) == "open"
    await demand.close()
    assert (service.opened, service.closed, state(demand)) == (1, 1, "closed")
    with pytest.raises(Unavailable, match="closed"):
        await use(demand)


async def test_what_is_lost_is_opened_again_at_once_the_first_time() -> None:
    service = Service()
    demand = OnDemand(service.open, limits=LIMITS)
    assert await use(demand) == 1
    service.lost("the program has ended")
    assert await use(demand) == 2
    assert demand.last_error == "the program has ended"
    await demand.close()


async def test_pauses_grow_with_failures_in_a_row_until_it_is_tried_rarely() -> None:
    service, ticks = Service(), Ticks()
    demand = OnDemand(service.open, limits=LIMITS, ticks=ticks)
    service.fails = Unavailable("no such program")
    for pause in (0, 1, 2, 4, 100, 100):
        with pytest.raises(Unavailable, match=r"^no such program$"):
            await use(demand)
        if pause:
            opened = service.opened
            ticks.now += pause - 0.5
            with pytest.raises(Unavailable, match=r"in a row.* in 1 s; .*no such program"):
                await use(demand)
            assert service.opened == opened
            ticks.now += 0.5
    service.fails = None
    assert await use(demand) == 7
    await demand.close()


async def test_what_was_open_for_a_while_has_not_failed_when_it_is_lost() -> None:
    service, ticks = Service(), Ticks()
    demand = OnDemand(service.open, limits=LIMITS, ticks=ticks)
    for time in range(1, 20):
        assert await use(demand) == time
        ticks.now += 10
        service.lost("the program has ended")
    await demand.close()


async def test_what_is_lost_right_after_it_was_opened_has_failed() -> None:
    service, ticks = Service(), Ticks()
    demand = OnDemand(service.open, limits=LIMITS, ticks=ticks)
    for _ in range(2):
        await use(demand)
        service.lost("the program has ended")
        await service.has_closed()
    with pytest.raises(Unavailable, match="2 times in a row"):
        await use(demand)
    assert state(demand) == "failed"
    await demand.reset()
    assert await use(demand) == 3
    await demand.close()


async def test_opening_is_limited_in_time() -> None:
    service = Service()
    service.hangs = True
    demand = OnDemand(service.open, limits=RestartLimits(handshake=0.01))
    with pytest.raises(Unavailable, match=r"not ready within 0\.01 seconds"):
        await use(demand)
    await demand.close()


async def test_an_error_in_opening_is_a_failure() -> None:
    service = Service()
    service.fails = ExceptionGroup("several", [ConnectionError("refused")])
    demand = OnDemand(service.open, limits=LIMITS)
    with pytest.raises(Unavailable, match=r"^ConnectionError: refused$"):
        await use(demand)


async def test_it_is_closed_when_nobody_has_used_it_for_a_while() -> None:
    service = Service()
    demand = OnDemand(service.open, limits=RestartLimits(idle=0.01))
    async with demand.use():
        async with demand.use():
            pass
        await asyncio.sleep(0)
    await service.has_closed()
    assert state(demand) == "closed"
    assert await use(demand) == 2
    await demand.close()


async def test_it_stays_open_while_it_is_used() -> None:
    service = Service()
    demand = OnDemand(service.open, limits=RestartLimits(idle=0.01))
    assert await use(demand) == 1
    async with demand.use():
        # Longer than it may be idle: the timer of the use before would end it.
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.03):
                await service.has_closed()
        assert state(demand) == "open"
    await service.has_closed()


async def test_closing_ends_an_attempt_to_open() -> None:
    service = Service()
    service.hangs = True
    demand = OnDemand(service.open, limits=LIMITS)
    user = asyncio.create_task(use(demand))
    await service.changed.wait()
    await demand.close()
    with pytest.raises(Unavailable, match="closed"):
        await user


async def test_a_user_who_gives_up_does_not_end_it_for_others() -> None:
    service = Service()
    demand = OnDemand(service.open, limits=LIMITS)
    first, second = asyncio.create_task(use(demand)), asyncio.create_task(use(demand))
    await asyncio.sleep(0)
    first.cancel()
    assert await second == 1
    await demand.close()

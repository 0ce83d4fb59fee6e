"""Threads for blocking work, so that the event loop does not wait for it.

asyncio's default pool is shared by all types of work: calls that block in it could keep a reload
waiting for a thread. Here each type of work has its own limit, and work that gets no thread in time
raises NoThreadFree. Where callers share threads, none of them can take all, and those who wait take
turns. The threads are daemons: the process does not wait for them at exit.
"""

from __future__ import annotations

import contextvars
import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakKeyDictionary

from policy.runtime.shares import Shares, owner_here
from policy.runtime.turns import after_waiting

if TYPE_CHECKING:
    import asyncio

# How much work of one owner may wait for a thread.
_MOST_WAITING = 1_000
# Stands for the owner of work that no caller asked for, which shares with nobody.
_NOBODY = object()
_Result = TypeVar("_Result")


class NoThreadFree(Exception):
    """All threads for this type of work are busy, or all that one owner may have."""


class _TooManyWait(Exception):
    """As many calls of one owner wait for a thread as may."""


class Threads:
    """Runs blocking functions in threads, at most `most` at once per event loop.

    `work` names their purpose. A function waits for a free thread, at most `patience` seconds if
    that is set. With `fair`, whoever a call is made for (`acting_for`) may have half of the
    threads, and the rest is shared by others. `begins`: here a call begins, so that one that has
    waited is looked at again.
    """

    def __init__(
        self,
        work: str,
        *,
        most: int,
        patience: float | None = None,
        fair: bool = False,
        begins: bool = False,
    ) -> None:
        self._work = work
        self._most = most
        self._patience = patience
        self._fair = fair
        self._begins = begins
        self._pools: WeakKeyDictionary[Any, _Pool] = WeakKeyDictionary()

    async def run(self, function: Callable[..., _Result], *arguments: Any) -> _Result:
        """Return the function's result; raise NoThreadFree if no thread became free in time.

        Cancellation ends the wait, not the function, which keeps its thread until it returns.
        """
        # Imported here: it is a tenth of what one `placet decide` imports, and that awaits nothing.
        import asyncio

        loop = asyncio.get_running_loop()
        pool = self._pools.setdefault(loop, _Pool(self._most))
        owner = owner_here() if self._fair else None
        owner = _NOBODY if owner is None else owner
        try:
            async with asyncio.timeout(self._patience):
                has_waited = await pool.acquire(owner, loop)
        except TimeoutError:
            raise NoThreadFree(self._busy(pool, owner)) from None
        except _TooManyWait:
            raise NoThreadFree(
                f"{_MOST_WAITING:,} calls of one caller wait already for threads for {self._work}; "
                "try again later"
            ) from None
        if has_waited and self._begins:
            try:
                await after_waiting()
            except BaseException:
                pool.release(owner)
                raise
        done: Future[_Result] = Future()
        done.set_running_or_notify_cancel()
        context = contextvars.copy_context()

        def work() -> None:
            with suppress(RuntimeError):  # the loop is closed: nothing awaits the result
                _settle(done, lambda: context.run(function, *arguments))
                loop.call_soon_threadsafe(pool.release, owner)

        try:
            threading.Thread(target=work, name=f"placet: {self._work}", daemon=True).start()
        except BaseException:
            pool.release(owner)
            raise
        return await asyncio.wrap_future(done)

    def _busy(self, pool: _Pool, owner: Hashable) -> str:
        if pool.is_full:
            return f"all {self._most} threads for {self._work} are busy; try again later"
        return (
            f"all threads for {self._work} that one caller may have are busy, "
            f"{pool.of(owner)} of {self._most}; try again later"
        )


class _Pool:
    """The threads of one event loop, and who waits for them: each owner in turn."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._shares = Shares(most)
        self._waiting: OrderedDict[Hashable, deque[asyncio.Future[None]]] = OrderedDict()

    @property
    def is_full(self) -> bool:
        """Whether there is no thread for anybody."""
        return self._shares.total >= self._most

    def of(self, owner: Hashable) -> int:
        """Return how many threads an owner has."""
        return self._shares.of(owner)

    async def acquire(self, owner: Hashable, loop: asyncio.AbstractEventLoop) -> bool:
        """Take a thread, when one is free; return whether that took a while.

        Raises _TooManyWait if its owner has that many calls waiting already.
        """
        if owner not in self._waiting and self._has_room(owner):
            self._shares.take(owner)
            return False
        line = self._waiting.setdefault(owner, deque())
        if len(line) >= _MOST_WAITING:
            raise _TooManyWait
        turn: asyncio.Future[None] = loop.create_future()
        line.append(turn)
        try:
            await turn
        except BaseException:
            if turn.cancelled():
                self._leave(owner, turn)
            else:
                self.release(owner)  # its turn came at the same moment
            raise
        return True

    def release(self, owner: Hashable) -> None:
        """Give a thread back, to those who wait for one."""
        self._shares.give_back(owner)
        while (other := self._next()) is not None:
            line = self._waiting[other]
            turn = line.popleft()
            self._waiting.move_to_end(other)
            if not line:
                del self._waiting[other]
            if not turn.done():  # it may have been cancelled just now
                self._shares.take(other)
                turn.set_result(None)

    def _next(self) -> Hashable | None:
        """Return the owner whose turn it is, of those who wait and may have one more."""
        return next((owner for owner in self._waiting if self._has_room(owner)), None)

    def _has_room(self, owner: Hashable) -> bool:
        return not self.is_full and (owner is _NOBODY or self._shares.has_room(owner))

    def _leave(self, owner: Hashable, turn: asyncio.Future[None]) -> None:
        line = self._waiting.get(owner, deque())
        if turn in line:
            line.remove(turn)
        if not line:
            self._waiting.pop(owner, None)


def _settle(done: Future[_Result], call: Callable[[], _Result]) -> None:
    """Run a function, and set the future to its result or exception."""
    try:
        result = call()
    except StopIteration as error:
        # A coroutine that awaits the future would treat it as its own end.
        stopped = RuntimeError("the function raised StopIteration")
        stopped.__cause__ = error
        done.set_exception(stopped)
    except BaseException as error:  # noqa: BLE001 - it is raised where the future is awaited
        done.set_exception(error)
    else:
        done.set_result(result)

"""Threads for work that blocks, so that the event loop does not wait for it.

asyncio's own pool is shared by all kinds of work: calls that block in it would keep a reload from
its thread. Here each kind of work has a limit of its own, and work that finds no thread in time
raises NoThreadFree. The threads are daemons: the process does not wait for them when it ends.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

_Result = TypeVar("_Result")


class NoThreadFree(Exception):
    """All threads for this kind of work are taken by work that has not ended."""


class Threads:
    """Runs blocking functions in threads, at most `most` at once for each event loop.

    `work` names what they are for. A function that finds no thread free waits for one, at most
    `patience` seconds if that is given.
    """

    def __init__(self, work: str, *, most: int, patience: float | None = None) -> None:
        self._work = work
        self._most = most
        self._patience = patience
        self._free: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore]
        self._free = WeakKeyDictionary()

    async def run(self, function: Callable[..., _Result], *given: Any) -> _Result:
        """Return what a function returns; raise NoThreadFree where no thread came free in time.

        Cancelling ends the wait, not the function, which keeps its thread until it returns.
        """
        loop = asyncio.get_running_loop()
        free = self._free.setdefault(loop, asyncio.Semaphore(self._most))
        try:
            async with asyncio.timeout(self._patience):
                await free.acquire()
        except TimeoutError:
            raise NoThreadFree(
                f"all {self._most} threads for {self._work} are taken by work that has not ended; "
                "try again later"
            ) from None
        done: Future[_Result] = Future()
        done.set_running_or_notify_cancel()
        context = contextvars.copy_context()

        def work() -> None:
            with suppress(RuntimeError):  # the loop has ended: nobody waits any more
                _settle(done, lambda: context.run(function, *given))
                loop.call_soon_threadsafe(free.release)

        try:
            threading.Thread(target=work, name=f"placet: {self._work}", daemon=True).start()
        except BaseException:
            free.release()
            raise
        return await asyncio.wrap_future(done)


def _settle(done: Future[_Result], call: Callable[[], _Result]) -> None:
    """Run a function, and set a future to what it returns or raises."""
    try:
        result = call()
    except StopIteration as error:
        # A coroutine that awaits would take it for its own end.
        stopped = RuntimeError("the function raised StopIteration")
        stopped.__cause__ = error
        done.set_exception(stopped)
    except BaseException as error:  # noqa: BLE001 - whoever waits gets it, whatever it is
        done.set_exception(error)
    else:
        done.set_result(result)

"""Blocking work beside the event loop, in threads that no other kind of work can take away.

asyncio's own pool is one for everything: enough calls that wait in it, and a reload that needs a
thread waits as well. So each kind of work has a bound of its own, and what finds no thread in time
is told so. A thread that goes on after its call has ended (its time was up) keeps its place until
it ends, and the end of the process does not wait for it.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

_Result = TypeVar("_Result")


class NoThreadFree(Exception):
    """All threads for this kind of work are taken by work that has not ended."""


class Threads:
    """Runs blocking functions in threads, at most `most` at once for each event loop.

    `work` names what they are for. Whoever finds none free waits, at most `patience` seconds;
    without that, until one is.
    """

    def __init__(self, work: str, *, most: int, patience: float | None = None) -> None:
        self._work = work
        self._most = most
        self._patience = patience
        self._free: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore]
        self._free = WeakKeyDictionary()

    async def run(self, function: Callable[..., _Result], *given: Any) -> _Result:
        """Return what a function returns; raise NoThreadFree where no thread came free in time.

        Cancelling ends the wait, not the function.
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
        ended: asyncio.Future[_Result] = loop.create_future()
        run = partial(contextvars.copy_context().run, function, *given)

        def work() -> None:
            tell = _outcome(run, ended)

            def finish() -> None:
                free.release()
                if not ended.done():
                    tell()

            with suppress(RuntimeError):  # the loop has ended: nobody waits any more
                loop.call_soon_threadsafe(finish)

        try:
            threading.Thread(target=work, name=f"placet: {self._work}", daemon=True).start()
        except BaseException:
            free.release()
            raise
        return await ended


def _outcome(run: Callable[[], _Result], ended: asyncio.Future[_Result]) -> Callable[[], None]:
    """Run a function; return what tells its outcome to whoever waits."""
    try:
        result = run()
    except BaseException as error:  # noqa: BLE001 - whoever waits is told, whatever it is
        return partial(ended.set_exception, _tellable(error))
    return partial(ended.set_result, result)


def _tellable(error: BaseException) -> BaseException:
    """Return an error that a future can hold: it would take StopIteration for its own end."""
    if not isinstance(error, StopIteration):
        return error
    told = RuntimeError("the function raised StopIteration")
    told.__cause__ = error
    return told

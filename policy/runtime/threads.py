"""Threads for blocking work, so that the event loop does not wait for it.

asyncio's default pool is shared by all types of work: calls that block in it could keep a reload
waiting for a thread. Here each type of work has its own limit, and work that gets no thread in time
raises NoThreadFree. The threads are daemons: the process does not wait for them at exit.
"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

_Result = TypeVar("_Result")


class NoThreadFree(Exception):
    """All threads for this type of work are busy."""


class Threads:
    """Runs blocking functions in threads, at most `most` at once per event loop.

    `work` names their purpose. A function waits for a free thread, at most `patience` seconds if
    that is set.
    """

    def __init__(self, work: str, *, most: int, patience: float | None = None) -> None:
        self._work = work
        self._most = most
        self._patience = patience
        # The semaphore of each event loop.
        self._free: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()

    async def run(self, function: Callable[..., _Result], *arguments: Any) -> _Result:
        """Return the function's result; raise NoThreadFree if no thread became free in time.

        Cancellation ends the wait, not the function, which keeps its thread until it returns.
        """
        # Imported here: it is a tenth of what one `placet decide` imports, and that awaits nothing.
        import asyncio

        loop = asyncio.get_running_loop()
        free = self._free.setdefault(loop, asyncio.Semaphore(self._most))
        try:
            async with asyncio.timeout(self._patience):
                await free.acquire()
        except TimeoutError:
            raise NoThreadFree(
                f"all {self._most} threads for {self._work} are busy; try again later"
            ) from None
        done: Future[_Result] = Future()
        done.set_running_or_notify_cancel()
        context = contextvars.copy_context()

        def work() -> None:
            with suppress(RuntimeError):  # the loop is closed: nothing awaits the result
                _settle(done, lambda: context.run(function, *arguments))
                loop.call_soon_threadsafe(free.release)

        try:
            threading.Thread(target=work, name=f"placet: {self._work}", daemon=True).start()
        except BaseException:
            free.release()
            raise
        return await asyncio.wrap_future(done)


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

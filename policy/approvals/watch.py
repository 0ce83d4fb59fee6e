"""Reports changes of approval requests to the calls that wait for them, and to listeners.

The changes of one request are reported in order, each at most once. Changes made through the gate
are reported at once; those of other processes are found by one task in each event loop, which polls
the store while a call waits there.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TypeAlias

from policy.approvals.filed import Filed
from policy.approvals.store import Desk
from policy.runtime import Listeners

Listener: TypeAlias = Callable[[Filed], None]
# A call waits for this: its request once that is not pending any more, or None after a timeout.
Waiter: TypeAlias = "asyncio.Future[Filed | None]"

# Beyond this many requests a change may be reported twice, which does no harm.
_MOST_REPORTED = 20_000
_LOG = logging.getLogger("policy.approvals")


class Watch:
    """Watches one store. It may be used from several threads, each with its own event loop."""

    def __init__(self, desk: Desk, *, poll: float) -> None:
        self._desk = desk
        self._poll_seconds = poll
        self._lock = threading.Lock()
        self._seen: int | None = None
        self._reported: OrderedDict[str, int] = OrderedDict()
        self._waiters: dict[str, list[Waiter]] = {}
        self._listeners: Listeners[Filed] = Listeners()
        self._pollers: dict[asyncio.AbstractEventLoop, tuple[asyncio.Task[None], int]] = {}
        self._is_broken = False

    async def begin(self) -> None:
        """Report changes from now on; later calls do nothing."""
        if self._seen is not None:
            return
        revision = await self._desk.revision()
        with self._lock:
            if self._seen is None:
                self._seen = revision

    async def look(self) -> None:
        """Report the changes since the last look; a store that fails is read again later."""
        seen = self._seen or 0
        try:
            changed = await self._desk.since(seen)
        except Exception as error:  # noqa: BLE001 - whatever a store raises, the calls keep waiting
            if not self._is_broken:
                _LOG.warning("the answers to approval requests cannot be read: %s", error)
            self._is_broken = True
            return
        self._is_broken = False
        for filed in changed:
            self.report(filed)
        with self._lock:
            self._seen = max((filed.revision for filed in changed), default=seen)

    def report(self, filed: Filed) -> None:
        """Report the state of one request, unless that was done before."""
        id = filed.request.id
        with self._lock:
            if self._reported.get(id, 0) >= filed.revision:
                return
            self._reported[id] = filed.revision
            self._reported.move_to_end(id)
            while len(self._reported) > _MOST_REPORTED:
                self._reported.popitem(last=False)
            waiters = tuple(self._waiters.get(id, ()))
        for waiter in waiters if filed.state != "pending" else ():
            _resolve(waiter, filed)
        self._listeners.notify(filed)

    def is_old(self, filed: Filed) -> bool:
        """Return whether a later change of this request has been reported."""
        return self._reported.get(filed.request.id, 0) > filed.revision

    @contextmanager
    def waiting(self, id: str) -> Iterator[Waiter]:
        """Return a future that is set when the request is not pending any more."""
        waiter: Waiter = asyncio.get_running_loop().create_future()
        with self._lock:
            self._waiters.setdefault(id, []).append(waiter)
        with self._polling():
            try:
                yield waiter
            finally:
                self._remove(id, waiter)

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` with every change; return a function to stop."""
        return self._listeners.add(listener)

    def _remove(self, id: str, waiter: Waiter) -> None:
        with self._lock:
            waiters = self._waiters[id]
            waiters.remove(waiter)
            if not waiters:
                del self._waiters[id]

    @contextmanager
    def _polling(self) -> Iterator[None]:
        """Have one task of this event loop poll the store while any of its calls waits."""
        loop = asyncio.get_running_loop()
        task, waiting = self._pollers.get(loop) or (loop.create_task(self._poll()), 0)
        self._pollers[loop] = (task, waiting + 1)
        try:
            yield
        finally:
            task, waiting = self._pollers.pop(loop)
            if waiting > 1:
                self._pollers[loop] = (task, waiting - 1)
            else:
                task.cancel()

    async def _poll(self) -> None:
        while True:
            await asyncio.sleep(self._poll_seconds)
            await self.look()


async def answered_within(waiter: Waiter, seconds: float | None) -> Filed | None:
    """Return the result of a future; None if the time is up first."""
    if seconds is None:
        return await waiter
    timer = waiter.get_loop().call_later(max(seconds, 0.0), _set_result, waiter, None)
    try:
        return await waiter
    finally:
        timer.cancel()


def _resolve(waiter: Waiter, filed: Filed) -> None:
    loop = waiter.get_loop()
    if loop is asyncio.get_running_loop():
        _set_result(waiter, filed)
        return
    # The other loop may have ended, and its calls with it.
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(_set_result, waiter, filed)


def _set_result(waiter: Waiter, filed: Filed | None) -> None:
    if not waiter.done():
        waiter.set_result(filed)

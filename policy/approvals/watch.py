"""Reports changes of approval requests to the calls that wait for them, and to listeners.

The changes of one question are reported in order, each at most once. Changes made through the gate
are reported at once; those of other processes are found by one task in each event loop, which polls
the desk while a call waits there.
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
# What a call waits for: its question when it is not pending any more, or None once time is up.
Place: TypeAlias = "asyncio.Future[Filed | None]"

# Beyond this many questions a change may be reported twice, which does no harm.
_MOST_TOLD = 20_000
_LOG = logging.getLogger("policy.approvals")


class Watch:
    """Watches one desk. It may be used from several threads, each with its own event loop."""

    def __init__(self, desk: Desk, *, poll: float) -> None:
        self._desk = desk
        self._poll_seconds = poll
        self._lock = threading.Lock()
        self._seen: int | None = None
        self._told: OrderedDict[str, int] = OrderedDict()
        self._places: dict[str, list[Place]] = {}
        self._listeners: Listeners[Filed] = Listeners()
        self._pollers: dict[asyncio.AbstractEventLoop, tuple[asyncio.Task[None], int]] = {}
        self._is_broken = False

    async def begin(self) -> None:
        """Report what changes from now on; later calls do nothing."""
        if self._seen is not None:
            return
        revision = await self._desk.revision()
        with self._lock:
            if self._seen is None:
                self._seen = revision

    async def look(self) -> None:
        """Report what has changed since the last look; a desk that fails is asked again later."""
        seen = self._seen or 0
        try:
            changed = await self._desk.since(seen)
        except Exception as error:  # noqa: BLE001 - whatever a desk raises, the calls keep waiting
            if not self._is_broken:
                _LOG.warning("the answers to questions cannot be looked up: %s", error)
            self._is_broken = True
            return
        self._is_broken = False
        for filed in changed:
            self.tell(filed)
        with self._lock:
            self._seen = max((filed.revision for filed in changed), default=seen)

    def tell(self, filed: Filed) -> None:
        """Report the state of one question, unless that was done before."""
        id = filed.request.id
        with self._lock:
            if self._told.get(id, 0) >= filed.revision:
                return
            self._told[id] = filed.revision
            self._told.move_to_end(id)
            while len(self._told) > _MOST_TOLD:
                self._told.popitem(last=False)
            places = tuple(self._places.get(id, ()))
        for place in places if filed.state != "pending" else ():
            _resolve(place, filed)
        self._listeners.notify(filed)

    def is_old(self, filed: Filed) -> bool:
        """Tell whether a later change of this question has been reported."""
        return self._told.get(filed.request.id, 0) > filed.revision

    @contextmanager
    def waiting(self, id: str) -> Iterator[Place]:
        """Return a future that is set when the question is not pending any more."""
        place: Place = asyncio.get_running_loop().create_future()
        with self._lock:
            self._places.setdefault(id, []).append(place)
        with self._polling():
            try:
                yield place
            finally:
                self._leave(id, place)

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` with every change; return a function to stop."""
        return self._listeners.add(listener)

    def _leave(self, id: str, place: Place) -> None:
        with self._lock:
            places = self._places[id]
            places.remove(place)
            if not places:
                del self._places[id]

    @contextmanager
    def _polling(self) -> Iterator[None]:
        """Have one task of this event loop poll the desk while any of its calls waits."""
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


async def answered_within(place: Place, seconds: float | None) -> Filed | None:
    """Return what a future is set to; None if the time is up before."""
    if seconds is None:
        return await place
    timer = place.get_loop().call_later(max(seconds, 0.0), _settle, place, None)
    try:
        return await place
    finally:
        timer.cancel()


def _resolve(place: Place, filed: Filed) -> None:
    loop = place.get_loop()
    if loop is asyncio.get_running_loop():
        _settle(place, filed)
        return
    # The other loop may have ended, and its calls with it.
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(_settle, place, filed)


def _settle(place: Place, filed: Filed | None) -> None:
    if not place.done():
        place.set_result(filed)
